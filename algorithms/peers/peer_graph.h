#pragma once

#include <vector>

namespace trigram {

/// What one rank does in one step of a decentralised method: whom it sends to, whom it receives
/// from, and the row of the mixing matrix W that it averages with.
struct Peers {
  struct Source {
    int rank;
    float weight;
  };
  float self_weight = 1;
  std::vector<Source> receive_from;
  std::vector<int> send_to;
};

// Generators of peers, by rank, number of ranks and step.

/// Left and right neighbours, all weights 1/3 (D-PSGD, arXiv 1705.09056); with two ranks both
/// neighbours are the one other rank, weight 1/2.
Peers ring_peers(int rank, int size);

/// One partner per step: the lower half of the ranks meets the upper half shifted by one more every
/// step; weights 1/2 (BAGUA's `shift_one`). The number of ranks is even, or one.
Peers shift_one_peers(int rank, int size, long step);

}  // namespace trigram
