#include "algorithms/peers/peer_graph.h"
#include "core/check.h"

namespace trigram {

Peers shift_one_peers(int rank, int size, long step) {
  if (size == 1) return {};
  TRIGRAM_CHECK(size % 2 == 0, "shift_one pairs ranks, so their number is even, not {}", size);
  const long half = size / 2;
  const long peer =
      rank < half ? (step + rank) % half + half : ((rank - half - step) % half + half) % half;
  const int partner = static_cast<int>(peer);
  return {0.5f, {{partner, 0.5f}}, {partner}};
}

}  // namespace trigram
