#pragma once

#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

/// The mixing matrix of one step, row by row: element [i * size + j] is what rank i gives to the
/// weights of rank j.
std::vector<double> mixing_matrix(const PeerGraph& graph, int size, long step);

/// How fast weights that are only mixed come together: each period of the graph brings the norm of
/// the weights' deviations from their mean down to at most 1 - gap of what it was.
///
/// gap = 1 - sigma_2(W_{T-1} ... W_0), where sigma_2 is the second largest singular value (for a
/// fixed symmetric W: the second largest modulus of an eigenvalue) and T the period. A graph
/// without a period is described by the mean square over its draws, here over `kDraws` steps: gap =
/// 1 - sqrt(lambda_2(mean of W^T W)), of one step.
double spectral_gap(const PeerGraph& graph, int size);
inline constexpr long kDraws = 4096;

}  // namespace trigram
