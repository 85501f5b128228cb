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

/// Options of the data plane, a part of CudaOptions.
struct NcclOptions {
  /// Before NCCL is called, both sides of every message describe it to each other on the control
  /// plane. A half (the ncclSend or ncclRecv) that is missing or does not match is then an error
  /// that names both ranks, and no kernel waits for a message that never comes. This takes one
  /// control message in each direction.
  bool checked = true;
  /// Send filler with tensors whose priced size is larger than their values.
  bool padded = false;
  /// The number of batches of one stream that may be in flight when `transfer` returns. An
  /// algorithm's control flow runs ahead of the GPU by at most this many batches.
  std::int64_t run_ahead = 4;
};

/// An NCCL communicator. Once it is created, only the issuing thread uses it.
struct NcclHandle {
  ncclComm_t comm = nullptr;  // null before the ranks are connected and after abort or destroy
  /// Throws the asynchronous error of the communicator, if it has one.
  void check() const;
  /// Ends the communicator and all its operations immediately.
  void abort() noexcept;
  /// Ends the communicator after its operations have completed.
  void destroy() noexcept;
};

/// Messages between same-named streams. Each batch is one group of ncclSend and ncclRecv on the
/// stream's queue.
class NcclCommunicator final : public Communicator {
 public:
  /// The context of a communicator: the ranks of the world, and one stream of this rank.
  struct Context {
    std::string stream_name;
    int rank = 0, size = 1;
    cudaStream_t queue = nullptr;
    AcceleratorStream& stream;
    Control& control;
    Waiter& waiter;
    Issuer& issuer;
  };
  /// Collective. Connects every pair of ranks, so that later calls never wait for a connection.
  NcclCommunicator(const NcclOptions& options, const Context& context, const ncclUniqueId& id,
                   std::shared_ptr<NcclHandle> handle);
  int rank() const override { return context_.rank; }
  int size() const override { return context_.size; }
  void transfer(std::span<const Transfer> batch) override;
  /// Uses NCCL's collective if the tensors have values, reductions are in f32, f16 or bf16, and all
  /// parts have equal length.
  bool native(const Collective& collective) override;

 private:
  struct Half;
  void connect(const ncclUniqueId& id);
  void await_matching_halves(std::span<const Transfer> batch);
  void await_same_collective(const Collective& collective);
  bool other_half_matches(const Transfer& mine);
  std::optional<Message> next_description(int tag, int peer);
  std::vector<Half> halves_of(std::span<const Transfer> batch);
  void add_halves(std::vector<Half>& halves, const Transfer& transfer, const Tensor& values);
  void exchange_parts(const Collective& c);
  void issue_and_limit(std::function<void(ncclComm_t)> call);
  static void issue(ncclComm_t comm, const std::vector<Half>& halves, cudaStream_t queue);
  void limit_run_ahead();

  const NcclOptions options_;
  const Context context_;
  const std::shared_ptr<NcclHandle> handle_;
  Tensor filler_;
  // Descriptions of messages and collectives that have arrived before this rank issues the same
  // message or collective, by tag and peer.
  std::map<std::pair<int, int>, std::deque<Message>> received_descriptions_;
  std::deque<std::shared_ptr<AcceleratorEvent>> in_flight_;
};

}  // namespace trigram::cuda
