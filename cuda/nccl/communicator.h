#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/accelerator_backend.h"
#include "cuda/nccl/issuer.h"

namespace trigram::cuda {

/// How the data plane works.
struct NcclPlan {
  /// Both sides of every message say on the control plane what it is before NCCL is called. So a
  /// half that is missing or does not match is an error that names both ranks, and no kernel waits
  /// for one that never comes. Costs a control message each way.
  bool checked = true;
  /// Whether filler is sent with tensors that are priced larger than their values are.
  bool padded = false;
  /// Batches of one stream that may be on their way when `transfer` returns. An algorithm's control
  /// flow runs ahead of the GPU by so many.
  std::int64_t run_ahead = 4;
};

/// A communicator of NCCL. The issuing thread alone uses it, once it is made.
struct NcclHandle {
  ncclComm_t comm = nullptr;  // null before the connection, and after the end
  /// Throws what the communicator has found by itself.
  void check() const;
  /// Ends it, and all that is under way, at once.
  void abort() noexcept;
  /// Ends it when all that is under way has ended.
  void destroy() noexcept;
};

/// Messages between same-named streams: each batch is one group of ncclSend and ncclRecv on the
/// stream's queue.
class NcclCommunicator final : public Communicator {
 public:
  /// Where a communicator belongs: the ranks of the world, and one stream of this one.
  struct Place {
    std::string stream_name;
    int rank = 0, size = 1;
    cudaStream_t queue = nullptr;
    AcceleratorStream& stream;
    Control& control;
    Waiter& waiter;
    Issuer& issuer;
  };
  /// Collective: connects every pair of ranks, so that no later call has to wait for a peer.
  NcclCommunicator(const NcclPlan& plan, const Place& place, const ncclUniqueId& id,
                   std::shared_ptr<NcclHandle> handle);
  ~NcclCommunicator() override = default;
  int rank() const override { return place_.rank; }
  int size() const override { return place_.size; }
  void transfer(std::span<const Transfer> batch) override;
  /// NCCL's own, of values: reductions of f32, f16 and bf16; where parts are concerned, if they are
  /// equally long.
  bool native(const Collective& collective) override;

 private:
  struct Half;
  void connect(const ncclUniqueId& id);
  void agree(std::span<const Transfer> batch);
  void agree_on(const Collective& collective);
  bool agreed(const Transfer& mine);
  std::optional<Message> heard(int tag, int peer);
  std::vector<Half> halves_of(std::span<const Transfer> batch);
  void add_halves(std::vector<Half>& halves, const Transfer& transfer, const Tensor& values);
  void exchange_parts(const Collective& c);
  void issue_and_limit(std::function<void(ncclComm_t)> call);
  static void issue(ncclComm_t comm, const std::vector<Half>& halves, cudaStream_t queue);
  void limit_run_ahead();

  const NcclPlan plan_;
  const Place place_;
  const std::shared_ptr<NcclHandle> handle_;
  Tensor filler_;
  // By tag and peer: of messages and collectives that this rank has not come to.
  std::map<std::pair<int, int>, std::deque<Message>> said_;
  std::deque<std::shared_ptr<AcceleratorEvent>> under_way_;
};

}  // namespace trigram::cuda
