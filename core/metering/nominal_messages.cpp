#include "core/metering/nominal_messages.h"

namespace trigram {

void nominal_messages(const Collective& collective, int rank, int size,
                      const std::function<void(int peer, std::uint64_t bytes)>& sent) {
  const int right = (rank + 1) % size;
  const auto part_bytes = [&](int i) {
    return collective.x
        .part(static_cast<std::size_t>((i + size) % size), static_cast<std::size_t>(size))
        .priced_nbytes();
  };
  const auto all_but = [&](int kept) {  // all parts but `kept`, in descending order
    for (int i = 1; i < size; ++i) sent(right, part_bytes(kept - i));
  };
  switch (collective.kind) {
    case Collective::allreduce: all_but(rank); return all_but(rank + 1);
    case Collective::reduce_scatter: return all_but(rank);
    case Collective::allgather: return all_but(rank + 1);
    case Collective::broadcast:
      if (right != collective.root) sent(right, collective.x.priced_nbytes());
      return;
    case Collective::all_to_all:
      for (int i = 1; i < size; ++i) sent((rank + i) % size, part_bytes(rank + i));
  }
}

}  // namespace trigram
