#include <algorithm>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/exchange.h"

namespace trigram {

void pairwise_alltoall(Context ctx, std::span<const Tensor> send, std::span<const Tensor> recv) {
  const int P = ctx.size(), rank = ctx.rank();
  const auto self = static_cast<std::size_t>(rank);
  ctx.device->copy(recv[self], send[self]);
  if (P == 1) return;
  Rounds rounds{
      .pattern = Rounds::rotation, .phases = {{{P - 1}}}, .traffic = Pattern::all_to_all};
  std::vector<Rounds::Sent> sent;
  for (int i = 1; i < P; ++i) {
    const int to = (rank + i) % P;
    const Tensor& x = send[static_cast<std::size_t>(to)];
    sent.push_back({to, 1, x.priced_nbytes()});
    rounds.longest = std::max(rounds.longest, x.priced_nbytes());
    rounds.shortest = i == 1 ? x.priced_nbytes() : std::min(rounds.shortest, x.priced_nbytes());
    rounds.valued = rounds.valued || !x.is_phantom();
  }
  rounds.sent = sent;
  ctx.comm->coupled(rounds, [&] {
    for (int i = 1; i < P; ++i) {
      const int to = (rank + i) % P, from = (rank - i + P) % P;
      send_receive(ctx, send[static_cast<std::size_t>(to)], to,
                   recv[static_cast<std::size_t>(from)], from, Pattern::all_to_all);
    }
  });
}

void direct_allgather(Context ctx, std::span<const Tensor> parts) {
  const int P = ctx.size(), rank = ctx.rank();
  if (P == 1) return;
  std::vector<Transfer> batch;
  for (int i = 1; i < P; ++i) {
    const int to = (rank + i) % P, from = (rank - i + P) % P;
    batch.push_back(
        {Transfer::recv, parts[static_cast<std::size_t>(from)], from, Pattern::all_to_all});
    batch.push_back(
        {Transfer::send, parts[static_cast<std::size_t>(rank)], to, Pattern::all_to_all});
  }
  ctx.comm->transfer(batch);
}

}  // namespace trigram
