#include <algorithm>

#include "algorithms/peers/peer_graph.h"
#include "algorithms/peers/registry.h"

namespace trigram {
namespace {

/// One partner per step, with weights 1/2: the lower half of the ranks is paired with the upper
/// half, shifted by one more rank in every step (BAGUA's `shift_one`).
class ShiftOne final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long step) const override {
    if (size == 1) return {};
    const long half = size / 2;
    const long peer =
        rank < half ? (step + rank) % half + half : ((rank - half - step) % half + half) % half;
    return pair_with(rank, static_cast<int>(peer));
  }
  std::string size_error(int size) const override {
    return size % 2 == 0 || size == 1 ? "" : "it pairs them, so their number must be even";
  }
  long period(int size) const override { return std::max(1, size / 2); }
};

}  // namespace

PeerGraphEntry shift_one_graph() {
  return plain_graph<ShiftOne>("shift_one",
                               "One partner: the lower half of the ranks pairs with the upper "
                               "half, shifted by one more in every step");
}

}  // namespace trigram
