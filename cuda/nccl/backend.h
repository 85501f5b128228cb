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

/// The state that the streams of one rank share in one world: the rank's GPU memory, the thread
/// that calls NCCL, and NCCL's communicators.
class NcclBackend final : public AcceleratorBackend {
 public:
  NcclBackend(const CudaOptions& options, int device, std::shared_ptr<CudaArena> arena,
              Bootstrap& bootstrap);
  /// Destroy the backend after all ranks have ended, because destroying a communicator may need all
  /// of them.
  ~NcclBackend() override;
  std::unique_ptr<AcceleratorStream> stream(const std::string& name, Control& control,
                                            Waiter& waiter) override;
  void check() override { issuer_.check(); }
  void abort() noexcept override;

 private:
  std::shared_ptr<NcclHandle> add_handle();
  ncclUniqueId next_communicator_id(Waiter& waiter);
  void check_handles();
  void abort_handles();

  const NcclOptions options_;
  const int device_;
  const std::shared_ptr<CudaArena> arena_;
  Bootstrap& bootstrap_;
  int streams_ = 0;  // number of streams that were created
  std::atomic<bool> aborted_ = false;
  std::mutex mutex_;  // guards handles_, not the handles, which belong to the issuer's thread
  std::vector<std::shared_ptr<NcclHandle>> handles_;
  Issuer issuer_;  // must be last, because its thread uses all other members
};

}  // namespace trigram::cuda
