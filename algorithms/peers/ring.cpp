#include "algorithms/peers/entries.h"

namespace trigram {
namespace {

/// The left and the right neighbour, with all weights 1/3 (D-PSGD, arXiv 1705.09056). If there are
/// two ranks, both neighbours are the other rank, with weight 1/2.
class Ring final : public PeerGraph {
 public:
  Peers peers(int rank, int size, long /*step*/) const override {
    if (size == 1) return {};
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    if (left == right) return {0.5f, {{left, 0.5f}}, {left}};
    const float third = 1.0f / 3;
    return {third, {{left, third}, {right, third}}, {left, right}};
  }
};

}  // namespace

PeerGraphEntry ring_graph() {
  return plain_graph<Ring>("ring", "Left and right neighbour, weights 1/3 (arXiv 1705.09056)");
}

}  // namespace trigram
