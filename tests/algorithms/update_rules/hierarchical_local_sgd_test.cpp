// Averages inside nodes and over all nodes, computed by hand.

#include <gtest/gtest.h>

#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::hierarchical_local_sgd_test {
namespace {

using namespace centralised;

class HierarchicalLocalSgdRule : public CentralisedRules {};

/// The models of workers in nodes of two, after each step.
std::vector<std::vector<double>> reference(std::size_t ranks, int steps, int node_every,
                                           int all_every) {
  std::vector<std::vector<double>> path;
  std::vector<double> x(ranks, 1);
  for (int t = 0; t < steps; ++t) {
    for (std::size_t r = 0; r < ranks; ++r) x[r] -= kLr * gradient(x[r], r);
    if ((t + 1) % (node_every * all_every) == 0) x.assign(ranks, mean(x));
    else if ((t + 1) % node_every == 0)
      for (std::size_t r = 0; r < ranks; r += 2) x[r] = x[r + 1] = (x[r] + x[r + 1]) / 2;
    path.push_back(x);
  }
  return path;
}

Json spec(int node_every, int all_every) {
  return {{"name", "hierarchical_local_sgd"}, {"node_every", node_every}, {"all_every", all_every}};
}

TEST_P(HierarchicalLocalSgdRule, AveragesInsideNodesAndLessOftenOverAll) {
  for (const int steps : {5, 7, 12})
    check(spec(2, 3), steps,
          [&](std::size_t ranks) { return reference(ranks, steps, 2, 3).back(); });
}

/// The models of a node are equal after every second step, and those of two nodes only after every
/// sixth.
TEST_P(HierarchicalLocalSgdRule, ReachesConsensusInsideNodes) {
  AffineTraining run = training(4, spec(2, 3), 12, kSlope);
  run.cluster = nodes_of_two(2);
  const auto path = paths(train(run));
  for (std::size_t t = 0; t < path.size(); ++t) {
    const auto& x = path[t];
    EXPECT_EQ(x[0] == x[1] && x[2] == x[3], t % 2 == 1) << t;
    EXPECT_EQ(x[0] == x[2], t % 6 == 5) << t;
  }
}

TEST_P(HierarchicalLocalSgdRule, IsLocalSgdIfEveryAverageIsOverAll) {
  for (const bool hierarchical : {false, true}) {
    const auto weights = [&](Json algorithm) {
      algorithm["hierarchical"] = hierarchical;
      AffineTraining run = training(4, algorithm, 9);
      run.cluster = nodes_of_two(2);
      run.tilt = 0.3;
      return weights_of(train(run));
    };
    EXPECT_EQ(weights(spec(3, 1)), weights({{"name", "local_sgd"}, {"sync_every", 3}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, HierarchicalLocalSgdRule, every_named_world(),
                         named_world_test_name);

}  // namespace
}  // namespace trigram::test::hierarchical_local_sgd_test
