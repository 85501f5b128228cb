#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "core/accelerator_backend.h"
#include "cuda/device/arena.h"
#include "cuda/nccl/communicator.h"
#include "cuda/nccl/issuer.h"
#include "cuda/support/options.h"

namespace trigram::cuda {

/// What the streams of one rank share in one world: the rank's memory on its GPU, the thread that
/// calls NCCL, and NCCL's communicators.
class NcclBackend final : public AcceleratorBackend {
 public:
  NcclBackend(const CudaOptions& options, int device, std::shared_ptr<CudaArena> arena,
              Bootstrap& bootstrap);
  /// All ranks have ended: to end a communicator may take all of them.
  ~NcclBackend() override;
  std::unique_ptr<AcceleratorStream> stream(const std::string& name, Control& control,
                                            Waiter& waiter) override;
  void check() override { issuer_.check(); }
  void abort() noexcept override;

 private:
  std::shared_ptr<NcclHandle> add_handle();
  ncclUniqueId agree_on_id(Waiter& waiter);
  void check_handles();
  void abort_handles();

  const NcclPlan plan_;
  const int device_;
  const std::shared_ptr<CudaArena> arena_;
  Bootstrap& bootstrap_;
  int streams_ = 0;  // so far
  std::atomic<bool> aborted_ = false;
  std::mutex mutex_;  // guards the list; what it holds is the issuing thread's
  std::vector<std::shared_ptr<NcclHandle>> handles_;
  Issuer issuer_;  // last: its thread uses all the others
};

}  // namespace trigram::cuda
