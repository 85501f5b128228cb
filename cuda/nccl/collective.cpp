#include <fmt/format.h>

#include "core/check.h"
#include "cuda/nccl/communicator.h"
#include "cuda/nccl/error.h"
#include "cuda/nccl/profiler_range.h"

// Collectives that NCCL implements.

namespace trigram::cuda {
namespace {

ncclDataType_t type_of(DType type) {
  switch (type) {
    case DType::f32: return ncclFloat32;
    case DType::bf16: return ncclBfloat16;
    case DType::f16: return ncclFloat16;
    case DType::u8: return ncclUint8;
  }
  return ncclUint8;
}

constexpr int kDescribesCollective = -103;  // a tag next to kDescribes in communicator.cpp

/// Encodes a collective as a control message: a = numel, b = its kind, reduction, type and root.
Message collective_description(const Collective& c, int peer) {
  const std::int64_t kind = static_cast<std::int64_t>(c.kind) * 4 + static_cast<std::int64_t>(c.op);
  return {peer, static_cast<std::int64_t>(c.x.numel()),
          (kind * 4 + static_cast<std::int64_t>(c.x.dtype())) * (std::int64_t{1} << 32) + c.root};
}

ncclRedOp_t op_of(Reduce op) {
  return op == Reduce::max ? ncclMax : op == Reduce::avg ? ncclAvg : ncclSum;
}

}  // namespace

/// An all-to-all as one group of messages, as NCCL recommends.
void NcclCommunicator::exchange_parts(const Collective& c) {
  const auto ranks = static_cast<std::size_t>(context_.size);
  std::vector<Transfer> batch;
  for (std::size_t i = 0; i < ranks; ++i) {
    batch.push_back({Transfer::send, c.x.part(i, ranks), static_cast<int>(i)});
    batch.push_back({Transfer::recv, c.y.part(i, ranks), static_cast<int>(i)});
  }
  transfer(batch);
}

/// Returns when all ranks have reached the same collective. It is a dissemination barrier (Hensgen,
/// Finkel and Manber, "Two algorithms for barrier synchronization", 1988).
void NcclCommunicator::await_same_collective(const Collective& c) {
  const int P = context_.size;
  for (int distance = 1; distance < P; distance *= 2) {
    const int to = (context_.rank + distance) % P, from = (context_.rank + P - distance) % P;
    const Message mine = collective_description(c, from);
    context_.control.post(to, kDescribesCollective, mine.a, mine.b);
    std::optional<Message> theirs;
    context_.waiter.await({.kind = Wait::collective, .peer = from}, [&] {
      theirs = next_description(kDescribesCollective, from);
      return theirs.has_value();
    });
    TRIGRAM_CHECK(
        theirs->a == mine.a && theirs->b == mine.b,
        "ranks {} and {} make different collectives on stream {}: of {} and of {} elements, "
        "or of another kind",
        context_.rank, from, context_.stream_name, mine.a, theirs->a);
  }
}

bool NcclCommunicator::native(const Collective& c) {
  const auto ranks = static_cast<std::size_t>(context_.size);
  const bool reduces = c.kind == Collective::allreduce || c.kind == Collective::reduce_scatter;
  const bool in_parts = c.kind != Collective::allreduce && c.kind != Collective::broadcast;
  if (c.x.is_phantom()) return false;
  if (options_.padded && c.x.priced_nbytes() > c.x.nbytes()) return false;
  if (reduces && c.x.dtype() == DType::u8) return false;
  if (in_parts && c.x.numel() % ranks != 0) return false;
  const std::size_t count = in_parts ? c.x.numel() / ranks : c.x.numel();
  if (count == 0) return true;
  if (c.kind == Collective::all_to_all) {
    exchange_parts(c);
    return true;
  }
  const ProfilerRange range("collective", context_.stream_name);
  if (options_.checked) await_same_collective(c);
  const Tensor mine = in_parts ? c.x.part(static_cast<std::size_t>(context_.rank), ranks) : c.x;
  issue_and_limit([c, count, mine, queue = context_.queue](ncclComm_t comm) {
    const ncclDataType_t type = type_of(c.x.dtype());
    std::byte *const all = c.x.data(), *const part = mine.data();
    switch (c.kind) {
      case Collective::allreduce:
        return check(ncclAllReduce(all, all, count, type, op_of(c.op), comm, queue),
                     "ncclAllReduce");
      case Collective::reduce_scatter:
        return check(ncclReduceScatter(all, part, count, type, op_of(c.op), comm, queue),
                     "ncclReduceScatter");
      case Collective::allgather:
        return check(ncclAllGather(part, all, count, type, comm, queue), "ncclAllGather");
      case Collective::broadcast:
        return check(ncclBroadcast(all, all, count, type, c.root, comm, queue), "ncclBroadcast");
      case Collective::all_to_all: return;
    }
  });
  return true;
}

}  // namespace trigram::cuda
