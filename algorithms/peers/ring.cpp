#include "algorithms/peers/peer_graph.h"

namespace trigram {

Peers ring_peers(int rank, int size) {
  if (size == 1) return {};
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  if (left == right) return {0.5f, {{left, 0.5f}}, {left}};
  const float third = 1.0f / 3;
  return {third, {{left, third}, {right, third}}, {left, right}};
}

}  // namespace trigram
