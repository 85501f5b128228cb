#include "tests/algorithms/update_rules/peer_methods.h"

// The methods that exchange with the neighbours of a peer graph, compared with their equations.
// Other tests check the graphs; these tests use them as matrices.

namespace trigram::test::peer_methods_test {
namespace {

using namespace peer_methods;

TEST_P(PeerMethods, DpsgdMixesTheOldWeightsAndStepsFromTheMean) {
  for (const PeerGraphSpec& graph : {PeerGraphSpec{"ring"},
                                     {"torus"},
                                     {"grid"},
                                     {"star"},
                                     {"complete"},
                                     {"random_matching"},
                                     {"shift_one"},
                                     {"bipartite"},
                                     {"butterfly", {{"group", 2}}},
                                     {"base_k", {{"peers", 2}}}})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph.name << " of " << P);
      Numbers x(static_cast<std::size_t>(P), 1);
      for (long t = 0; t < 4; ++t) x = step_down(times(mixing(graph, P, t), x), gradients(x));
      expect_near(trained(algorithm("dpsgd", graph, false), flat_cluster(P), 4), x);
      expect_near(trained(in_buckets(algorithm("dpsgd", graph, false)), flat_cluster(P), 4), x);
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
      expect_near(trained(in_buckets(algorithm("sgp", graph, false)), flat_cluster(P), 4), z);
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

/// Models are not averaged: each model stays where its own steps have brought it.
TEST_P(PeerMethods, GossipGradMixesGradientsAlone) {
  for (const PeerGraphSpec& graph : {PeerGraphSpec{"shuffled_exponential"},
                                     {"shuffled_exponential", {{"topology", "cube"}}},
                                     {"ring"}})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph.name << graph.options << " of " << P);
      Numbers x(static_cast<std::size_t>(P), 1);
      for (long t = 0; t < 5; ++t) x = step_down(x, times(mixing(graph, P, t), gradients(x)));
      expect_near(trained(algorithm("gossipgrad", graph, false), flat_cluster(P), 5), x);
    }
  Numbers x(8, 1);
  for (long t = 0; t < 5; ++t) {
    const Numbers nodes = times(mixing({"shuffled_exponential"}, 4, t), node_means(gradients(x)));
    x = step_down(x, to_ranks(nodes));
  }
  expect_near(trained(algorithm("gossipgrad", {"shuffled_exponential"}, true), nodes_of_two(4), 5),
              x);
}

// Methods on replicas. Equal weights are encoded without loss, so these tests show the mixing;
// coded_peer_methods_test.cpp tests the encoding.

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

INSTANTIATE_TEST_SUITE_P(Worlds, PeerMethods, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::peer_methods_test
