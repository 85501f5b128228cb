#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/pricing.h"

namespace trigram {

namespace {

/// Every rank sends `outgoing(j)` to each other rank j and receives `incoming(j)` from it, all in
/// one batch.
template <class Outgoing, class Incoming>
void exchange_with_all(Context ctx, const Outgoing& outgoing, const Incoming& incoming) {
  const int P = ctx.size(), rank = ctx.rank();
  if (P == 1) return;
  std::vector<Transfer> batch;
  // Each rank starts with a different peer, so that not all ranks send to the same rank first.
  for (int i = 1; i < P; ++i) {
    const int next = (rank + i) % P, previous = (rank - i + P) % P;
    batch.push_back({Transfer::recv, incoming(static_cast<std::size_t>(previous)), previous,
                     TrafficClass::all_to_all});
    batch.push_back(
        {Transfer::send, outgoing(static_cast<std::size_t>(next)), next, TrafficClass::all_to_all});
  }
  transfer_at_once(ctx, batch, TrafficClass::all_to_all);
}

}  // namespace

void direct_alltoall(Context ctx, std::span<const Tensor> send, std::span<const Tensor> recv) {
  const auto self = static_cast<std::size_t>(ctx.rank());
  ctx.device->copy(recv[self], send[self]);
  exchange_with_all(
      ctx, [&](std::size_t j) -> const Tensor& { return send[j]; },
      [&](std::size_t j) -> const Tensor& { return recv[j]; });
}

void direct_allgather(Context ctx, std::span<const Tensor> parts) {
  const Tensor& mine = parts[static_cast<std::size_t>(ctx.rank())];
  exchange_with_all(
      ctx, [&](std::size_t) -> const Tensor& { return mine; },
      [&](std::size_t j) -> const Tensor& { return parts[j]; });
}

}  // namespace trigram
