#include <gtest/gtest.h>

#include "algorithms/peers/registry.h"
#include "core/codecs/registry.h"
#include "tests/oracles/minmax_uint8_reference.h"
#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

// The methods that exchange with the neighbours of a peer graph, against their equations. What the
// graphs are is tested elsewhere; here they are read as matrices.

namespace trigram::test {
namespace {

constexpr double kLr = 0.125, kSlope = 0.5;
using Numbers = std::vector<double>;  // by rank: all weights of a rank are equal
using Matrix = std::vector<Numbers>;

/// g_r(x) of every rank.
Numbers gradients(const Numbers& x) {
  Numbers g;
  for (std::size_t r = 0; r < x.size(); ++r)
    g.push_back(kSlope * x[r] + static_cast<double>(r + 1));
  return g;
}

Numbers step_down(Numbers x, const Numbers& g) {
  for (std::size_t r = 0; r < x.size(); ++r) x[r] -= kLr * g[r];
  return x;
}

Numbers times(const Matrix& w, const Numbers& x) {
  Numbers y(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += w[i][j] * x[j];
  return y;
}

/// W of one step.
Matrix mixing(const PeerGraphSpec& spec, int size, long step) {
  Matrix w(static_cast<std::size_t>(size), Numbers(static_cast<std::size_t>(size), 0));
  for (std::size_t i = 0; i < w.size(); ++i) {
    const Peers peers = make_peer_graph(spec)->peers(static_cast<int>(i), size, step);
    w[i][i] = peers.self_weight;
    for (const auto& source : peers.receive_from)
      w[i][static_cast<std::size_t>(source.rank)] = source.weight;
  }
  return w;
}

/// What push-sum uses instead: column j is 1/(1 + out-peers of j), where j sends.
Matrix pushing(const PeerGraphSpec& spec, int size, long step) {
  Matrix p(static_cast<std::size_t>(size), Numbers(static_cast<std::size_t>(size), 0));
  for (std::size_t j = 0; j < p.size(); ++j) {
    const auto to = make_peer_graph(spec)->peers(static_cast<int>(j), size, step).send_to;
    const double share = 1.0 / static_cast<double>(to.size() + 1);
    p[j][j] = share;
    for (const int i : to) p[static_cast<std::size_t>(i)][j] = share;
  }
  return p;
}

/// The means of nodes of two ranks, and what the nodes have, given to both.
Numbers node_means(const Numbers& x) {
  Numbers nodes;
  for (std::size_t r = 0; r < x.size(); r += 2) nodes.push_back((x[r] + x[r + 1]) / 2);
  return nodes;
}
Numbers to_ranks(const Numbers& nodes) {
  Numbers x;
  for (const double node : nodes) x.insert(x.end(), 2, node);
  return x;
}

Json algorithm(const char* name, const PeerGraphSpec& graph, bool hierarchical) {
  return {{"name", name}, {"graph", peer_graph_kind().dump(graph)}, {"hierarchical", hierarchical}};
}

class PeerMethods : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string reason = world_unavailable(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  Numbers trained(const Json& spec, const Cluster& cluster, long steps) {
    return common_weights(train({.world = GetParam(),
                                 .cluster = cluster,
                                 .algorithm = spec,
                                 .steps = steps,
                                 .slope = kSlope,
                                 .lr = kLr}));
  }
  static Cluster nodes_of_two(int nodes) {
    Cluster cluster;
    cluster.nodes = nodes;
    cluster.workers_per_node = 2;
    return cluster;
  }
};

TEST_P(PeerMethods, DpsgdMixesTheOldWeightsAndStepsFromTheMean) {
  for (const PeerGraphSpec& graph : {PeerGraphSpec{"ring"},
                                     {"torus"},
                                     {"grid"},
                                     {"star"},
                                     {"complete"},
                                     {"random_matching"},
                                     {"shift_one"},
                                     {"bipartite"},
                                     {"butterfly", {{"group", 2}}}})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph.name << " of " << P);
      Numbers x(static_cast<std::size_t>(P), 1);
      for (long t = 0; t < 4; ++t) x = step_down(times(mixing(graph, P, t), x), gradients(x));
      expect_near(trained(algorithm("dpsgd", graph, false), flat_cluster(P), 4), x);
    }
}

TEST_P(PeerMethods, HierarchicalDpsgdMixesTheMeansOfNodes) {
  Numbers x(8, 1);
  for (long t = 0; t < 3; ++t)
    x = step_down(to_ranks(times(mixing({"star"}, 4, t), node_means(x))), gradients(x));
  expect_near(trained(algorithm("dpsgd", {"star"}, true), nodes_of_two(4), 3), x);
}

TEST_P(PeerMethods, SgpStepsFromTheBiasedWeightsAtTheUnbiasedGradient) {
  double largest_weight = 0;
  for (const PeerGraphSpec& graph : {PeerGraphSpec{"one_peer_exponential"},
                                     {"n_peer_exponential", {{"peers", 2}}},
                                     {"static_exponential"},
                                     {"star"},
                                     {"grid"},
                                     {"random_matching"}})
    for (const int P : {4, 7, 8}) {
      SCOPED_TRACE(testing::Message() << graph.name << " of " << P);
      Numbers x(static_cast<std::size_t>(P), 1), w = x, z = x;
      for (long t = 0; t < 4; ++t) {
        const Matrix p = pushing(graph, P, t);
        x = times(p, step_down(x, gradients(z)));
        w = times(p, w);
        for (std::size_t r = 0; r < x.size(); ++r) z[r] = x[r] / w[r];
        for (const double weight : w) largest_weight = std::max(largest_weight, weight);
      }
      expect_near(trained(algorithm("sgp", graph, false), flat_cluster(P), 4), z);
    }
  EXPECT_GT(largest_weight, 2) << "some graph makes the weights matter";
}

TEST_P(PeerMethods, HierarchicalSgpPushesTheMeansOfNodes) {
  Numbers x(6, 1), w(3, 1), z(6, 1);
  for (long t = 0; t < 4; ++t) {
    const Matrix p = pushing({"star"}, 3, t);
    const Numbers nodes = times(p, node_means(step_down(x, gradients(z))));
    w = times(p, w);
    x = to_ranks(nodes);
    for (std::size_t r = 0; r < z.size(); ++r) z[r] = x[r] / w[r / 2];
  }
  expect_near(trained(algorithm("sgp", {"star"}, true), nodes_of_two(3), 4), z);
}

// Methods on replicas. Equal weights are coded without loss, which shows the mixing; weights that
// differ show what the code does.

TEST_P(PeerMethods, DcdWithoutLossMixesLikeDpsgd) {
  for (const char* graph : {"ring", "torus", "star", "complete"})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph << " of " << P);
      Numbers x(static_cast<std::size_t>(P), 1);
      for (long t = 0; t < 3; ++t) x = step_down(times(mixing({graph}, P, t), x), gradients(x));
      expect_near(trained(algorithm("dcd_psgd", {graph}, false), flat_cluster(P), 3), x);
    }
  Numbers x(8, 1);
  for (long t = 0; t < 3; ++t) {
    const Numbers nodes = node_means(x), half = node_means(step_down(x, gradients(x)));
    Numbers next = times(mixing({"ring"}, 4, t), nodes);
    for (std::size_t n = 0; n < 4; ++n) next[n] += half[n] - nodes[n];
    x = to_ranks(next);
  }
  expect_near(trained(algorithm("dcd_psgd", {"ring"}, true), nodes_of_two(4), 3), x);
}

TEST_P(PeerMethods, ChocoWithoutLossGossipsAfterTheStep) {
  for (const char* graph : {"ring", "torus", "star", "grid"})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph << " of " << P);
      const double gamma = 0.75;
      Numbers x(static_cast<std::size_t>(P), 1);
      for (long t = 0; t < 3; ++t) {
        const Numbers half = step_down(x, gradients(x)), mixed = times(mixing({graph}, P, t), half);
        for (std::size_t r = 0; r < x.size(); ++r) x[r] = half[r] + gamma * (mixed[r] - half[r]);
      }
      Json choco = algorithm("choco_sgd", {graph}, false);
      choco["gamma"] = gamma;
      expect_near(trained(choco, flat_cluster(P), 3), x);
    }
}

constexpr float kTilt = 0.3f;
constexpr std::size_t kNumel = 40;
using Vector = std::vector<float>;
using Vectors = std::vector<Vector>;  // by rank

/// a x + b y
Vector sum(float a, const Vector& x, float b, const Vector& y) {
  Vector result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = a * x[i] + b * y[i];
  return result;
}

/// x_r - lr g_r(x_r) where the gradient of weight i is slope x + (r + 1) (1 + tilt i).
Vector local_step(const Vector& x, std::size_t rank) {
  Vector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = x[i] - static_cast<float>(kLr) *
                      (static_cast<float>(kSlope) * x[i] +
                       static_cast<float>(rank + 1) * (1 + kTilt * static_cast<float>(i)));
  return y;
}

Vector coded(const Vector& x) { return minmax_uint8_decode(minmax_uint8_encode(x), x.size()); }

Vectors trained_vectors(const std::string& world, const Json& spec, int ranks) {
  Vectors weights;
  for (const AffineEnd& end : train({.world = world,
                              .cluster = flat_cluster(ranks),
                              .algorithm = spec,
                              .steps = 3,
                              .slope = kSlope,
                              .tilt = kTilt,
                              .lr = kLr,
                              .numel = kNumel}))
    weights.push_back(end.weights);
  return weights;
}

void expect_vectors_near(const Vectors& actual, const Vectors& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t r = 0; r < actual.size(); ++r) {
    ASSERT_EQ(actual[r].size(), expected[r].size());
    for (std::size_t i = 0; i < actual[r].size(); ++i)
      EXPECT_NEAR(actual[r][i], expected[r][i], 2e-5f) << "rank " << r << ", weight " << i;
  }
}

double largest_difference(const Vectors& a, const Vectors& b) {
  float largest = 0;
  for (std::size_t r = 0; r < a.size(); ++r)
    for (std::size_t i = 0; i < a[r].size(); ++i)
      largest = std::max(largest, std::abs(a[r][i] - b[r][i]));
  return static_cast<double>(largest);
}

/// Low-precision decentralised training as BAGUA has it: three replicas on every rank of a ring.
template <class Code>
Vectors bagua_ring(std::size_t P, Code code) {
  const Vector ones(kNumel, 1);
  Vectors left(P, ones), right(P, ones), own(P, ones), c(P);
  for (long t = 0; t < 3; ++t) {
    for (std::size_t r = 0; r < P; ++r) {
      const Vector y = local_step(own[r], r);
      const Vector neighbours = sum(1.0f / 3, left[r], 1.0f / 3, right[r]);
      c[r] = code(sum(1, sum(1, y, 1, neighbours), -5.0f / 3, own[r]));
    }
    for (std::size_t r = 0; r < P; ++r) {
      left[r] = sum(1, left[r], 1, c[(r + P - 1) % P]);
      right[r] = sum(1, right[r], 1, c[(r + 1) % P]);
      own[r] = sum(1, own[r], 1, c[r]);
    }
  }
  return own;
}

TEST_P(PeerMethods, DcdOnARingIsBaguasLowPrecisionDecentralised) {
  for (const int P : {4, 8}) {
    SCOPED_TRACE(P);
    const Vectors expected = bagua_ring(static_cast<std::size_t>(P), coded);
    expect_vectors_near(trained_vectors(GetParam(), algorithm("dcd_psgd", {"ring"}, false), P),
                        expected);
    const Vectors exact =
        bagua_ring(static_cast<std::size_t>(P), [](const Vector& z) { return z; });
    EXPECT_GT(largest_difference(expected, exact), 1e-3) << "the code loses something";
  }
}

/// CHOCO-SGD with one replica per model, as all copies of it are equal.
template <class Code>
Vectors choco(const PeerGraphSpec& graph, std::size_t P, float gamma, Code code) {
  Vectors x(P, Vector(kNumel, 1)), replica = x, half(P);
  for (long t = 0; t < 3; ++t) {
    for (std::size_t r = 0; r < P; ++r) {
      half[r] = local_step(x[r], r);
      replica[r] = sum(1, replica[r], 1, code(sum(1, half[r], -1, replica[r])));
    }
    const Matrix w = mixing(graph, static_cast<int>(P), t);
    for (std::size_t i = 0; i < P; ++i) {
      x[i] = half[i];
      for (std::size_t j = 0; j < P; ++j)
        x[i] =
            sum(1, x[i], gamma * static_cast<float>(w[i][j]), sum(1, replica[j], -1, replica[i]));
    }
  }
  return x;
}

TEST_P(PeerMethods, ChocoGossipsOnReplicas) {
  for (const char* graph : {"ring", "star", "torus"})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph << " of " << P);
      const auto n = static_cast<std::size_t>(P);
      const Vectors expected = choco({graph}, n, 0.5f, coded);
      expect_vectors_near(trained_vectors(GetParam(), algorithm("choco_sgd", {graph}, false), P),
                          expected);
      const Vectors exact = choco({graph}, n, 0.5f, [](const Vector& z) { return z; });
      EXPECT_GT(largest_difference(expected, exact), 1e-3) << "the code loses something";
    }
}

/// W is symmetric, so gossip on replicas keeps the sum of all models whatever the code loses, as
/// long as all copies of a replica are equal: with gradients that do not depend on the weights, the
/// mean model goes down the mean gradient.
TEST_P(PeerMethods, ChocoConservesTheMeanWithEveryCodec) {
  constexpr int kRanks = 6, kSteps = 5;
  for (const auto& entry : codecs()) {
    Json codec = {{"name", entry.name}};
    if (entry.name == "randk") codec.update({{"unbiased", false}, {"density", 0.25}});
    SCOPED_TRACE(codec);
    Json spec = algorithm("choco_sgd", {"ring"}, false);
    spec.update({{"codec", codec}, {"gamma", 0.3}});
    const auto ends = train({.world = GetParam(),
                             .cluster = flat_cluster(kRanks),
                             .algorithm = spec,
                             .steps = kSteps,
                             .slope = 0,
                             .tilt = kTilt,
                             .lr = kLr,
                             .numel = kNumel});
    ASSERT_EQ(ends.size(), static_cast<std::size_t>(kRanks));
    for (std::size_t i = 0; i < kNumel; ++i) {
      double mean = 0, mean_rank = 0;
      for (std::size_t r = 0; r < kRanks; ++r) {
        mean += static_cast<double>(ends[r].weights.at(i)) / kRanks;
        mean_rank += static_cast<double>(r + 1) / kRanks;
      }
      const double slant = 1 + static_cast<double>(kTilt) * static_cast<double>(i);
      EXPECT_NEAR(mean, 1 - kLr * kSteps * mean_rank * slant, 1e-3) << "weight " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, PeerMethods, ::testing::ValuesIn(world_names()),
                         [](const auto& world) { return world.param; });

}  // namespace
}  // namespace trigram::test
