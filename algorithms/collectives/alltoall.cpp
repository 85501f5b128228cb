#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/pricing.h"

namespace trigram {

void direct_alltoall_and_allgather(Context ctx, std::span<const Tensor> send,
                                   std::span<const Tensor> recv, std::span<const Tensor> parts) {
  const int P = ctx.size(), rank = ctx.rank();
  const auto self = static_cast<std::size_t>(rank);
  if (!send.empty()) ctx.device->copy(recv[self], send[self]);
  if (P == 1) return;
  std::vector<Transfer> batch;
  const auto exchange = [&](const Tensor& outgoing, int next, const Tensor& incoming,
                            int previous) {
    batch.push_back({Transfer::recv, incoming, previous, TrafficClass::all_to_all});
    batch.push_back({Transfer::send, outgoing, next, TrafficClass::all_to_all});
  };
  // Each rank starts with a different peer, so that not all ranks send to the same rank first.
  for (int i = 1; i < P; ++i) {
    const int next = (rank + i) % P, previous = (rank - i + P) % P;
    const auto to = static_cast<std::size_t>(next), from = static_cast<std::size_t>(previous);
    if (!send.empty()) exchange(send[to], next, recv[from], previous);
    if (!parts.empty()) exchange(parts[self], next, parts[from], previous);
  }
  transfer_at_once(ctx, batch, TrafficClass::all_to_all);
}

void direct_alltoall(Context ctx, std::span<const Tensor> send, std::span<const Tensor> recv) {
  direct_alltoall_and_allgather(ctx, send, recv, {});
}

void direct_allgather(Context ctx, std::span<const Tensor> parts) {
  direct_alltoall_and_allgather(ctx, {}, {}, parts);
}

}  // namespace trigram
