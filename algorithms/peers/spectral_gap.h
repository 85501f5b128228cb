#pragma once

#include <vector>

#include "algorithms/peers/peer_graph.h"

namespace trigram {

/// The mixing matrix of one step, row by row: element [i * size + j] is the weight that rank i
/// gives to the model of rank j.
std::vector<double> mixing_matrix(const PeerGraph& graph, int size, long step);

/// How fast models approach their mean if they are only averaged: each period of the graph
/// multiplies the norm of the models' deviations from their mean by at most 1 - gap.
///
/// gap = 1 - sigma_2(W_{T-1} ... W_0), where sigma_2 is the second largest singular value (for a
/// fixed symmetric W: the second largest modulus of an eigenvalue) and T is the period. For a graph
/// without a period the gap is defined for one step, by the mean over `kDraws` steps: gap = 1 -
/// sqrt(lambda_2(mean of W^T W)).
double spectral_gap(const PeerGraph& graph, int size);
inline constexpr long kDraws = 4096;

}  // namespace trigram
