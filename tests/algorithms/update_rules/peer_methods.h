#pragma once

#include <gtest/gtest.h>

#include "algorithms/peers/registry.h"
#include "tests/support/affine_training.h"
#include "tests/support/mixing.h"
#include "tests/support/worlds.h"

// Parts of the equations of methods over peer graphs, for computations by hand.

namespace trigram::test::peer_methods {

inline constexpr double kLr = 0.125, kSlope = 0.5;
using Numbers = std::vector<double>;  // by rank; all weights of a rank are equal

/// g_r(x) of every rank.
inline Numbers gradients(const Numbers& x) {
  Numbers g;
  for (std::size_t r = 0; r < x.size(); ++r)
    g.push_back(kSlope * x[r] + static_cast<double>(r + 1));
  return g;
}

inline Numbers step_down(Numbers x, const Numbers& g) {
  for (std::size_t r = 0; r < x.size(); ++r) x[r] -= kLr * g[r];
  return x;
}

inline Numbers times(const Matrix& w, const Numbers& x) {
  Numbers y(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += w[i][j] * x[j];
  return y;
}

/// The matrix W of one step.
inline Matrix mixing(const PeerGraphSpec& spec, int size, long step) {
  return assemble(*make_peer_graph(spec), size, step);
}

/// The matrix that push-sum uses instead: column j is 1/(1 + out-peers of j) at j and at the ranks
/// to which j sends.
inline Matrix pushing(const PeerGraphSpec& spec, int size, long step) {
  Matrix p(static_cast<std::size_t>(size), Numbers(static_cast<std::size_t>(size), 0));
  for (std::size_t j = 0; j < p.size(); ++j) {
    const auto to = make_peer_graph(spec)->peers(static_cast<int>(j), size, step).send_to;
    const double share = 1.0 / static_cast<double>(to.size() + 1);
    p[j][j] = share;
    for (const int i : to) p[static_cast<std::size_t>(i)][j] = share;
  }
  return p;
}

/// The means of nodes of two ranks, and the values of nodes given to both ranks.
inline Numbers node_means(const Numbers& x) {
  Numbers nodes;
  for (std::size_t r = 0; r < x.size(); r += 2) nodes.push_back((x[r] + x[r + 1]) / 2);
  return nodes;
}
inline Numbers to_ranks(const Numbers& nodes) {
  Numbers x;
  for (const double node : nodes) x.insert(x.end(), 2, node);
  return x;
}

inline Json algorithm(const char* name, const PeerGraphSpec& graph, bool hierarchical) {
  return {{"name", name}, {"graph", peer_graph_kind().dump(graph)}, {"hierarchical", hierarchical}};
}

inline Json in_buckets(Json spec) {
  spec["bucket"] = "0B";
  return spec;
}

class PeerMethods : public AffineTest {
 protected:
  Numbers trained(const Json& spec, const Cluster& cluster, long steps) {
    return common_weights(train({.world = GetParam(),
                                 .cluster = cluster,
                                 .algorithm = spec,
                                 .steps = steps,
                                 .slope = kSlope,
                                 .lr = kLr}));
  }
};

}  // namespace trigram::test::peer_methods
