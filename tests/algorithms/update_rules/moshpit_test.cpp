#include "tests/algorithms/update_rules/peer_methods.h"

// Moshpit SGD: averages along the axes of a grid, compared with plain loops.

namespace trigram::test::moshpit_test {
namespace {

using namespace peer_methods;

using Sides = std::vector<std::size_t>;

/// The coordinates of `rank` along all axes.
Sides coordinates_of(std::size_t rank, const Sides& sides) {
  Sides coordinates;
  for (const std::size_t side : sides) {
    coordinates.push_back(rank % side);
    rank /= side;
  }
  return coordinates;
}

/// For each rank, the mean over the ranks that differ from it only along `axis`.
Numbers means_along(const Numbers& x, const Sides& sides, std::size_t axis) {
  Numbers means;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = 0, count = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      Sides own = coordinates_of(i, sides), other = coordinates_of(j, sides);
      own[axis] = other[axis] = 0;
      if (own != other) continue;
      sum += x[j];
      count += 1;
    }
    means.push_back(sum / count);
  }
  return means;
}

struct Rule {
  Json options;
  std::size_t ranks;
  Sides sides;
  long sync_every = 1, rounds = 1;
};

Numbers expected_weights(const Rule& rule, long steps, bool in_nodes_of_two) {
  Numbers x(rule.ranks, 1);
  std::size_t round = 0;
  for (long t = 0; t < steps; ++t) {
    x = step_down(x, gradients(x));
    if ((t + 1) % rule.sync_every != 0) continue;
    for (long i = 0; i < rule.rounds; ++i, ++round) {
      const std::size_t axis = round % rule.sides.size();
      x = in_nodes_of_two ? to_ranks(means_along(node_means(x), rule.sides, axis))
                          : means_along(x, rule.sides, axis);
    }
  }
  return x;
}

Json moshpit(const Rule& rule) {
  Json spec = {{"name", "moshpit"}, {"sync_every", rule.sync_every}, {"rounds", rule.rounds}};
  spec.update(rule.options);
  return spec;
}

class MoshpitRule : public PeerMethods {};

TEST_P(MoshpitRule, AveragesAlongOneAxisAfterAnother) {
  for (const Rule& rule :
       {Rule{Json::object(), 4, {2, 2}}, Rule{Json::object(), 6, {3, 2}},
        Rule{{{"dimensions", 3}}, 8, {2, 2, 2}, 2}, Rule{{{"dimensions", 3}}, 8, {2, 2, 2}, 1, 2},
        Rule{{{"dimensions", 1}}, 5, {5}}, Rule{{{"grid", {2, 4}}}, 8, {2, 4}, 2, 2},
        Rule{{{"grid", {3, 3}}}, 7, {3, 3}}, Rule{{{"grid", {2, 2, 2}}}, 5, {2, 2, 2}, 1, 3}}) {
    SCOPED_TRACE(testing::Message() << moshpit(rule) << " of " << rule.ranks);
    const Cluster cluster = flat_cluster(static_cast<int>(rule.ranks));
    expect_near(trained(moshpit(rule), cluster, 5), expected_weights(rule, 5, false));
    expect_near(trained(in_buckets(moshpit(rule)), cluster, 5), expected_weights(rule, 5, false));
  }
}

TEST_P(MoshpitRule, AveragesTheMeansOfNodesIfHierarchical) {
  const Rule rule{{{"hierarchical", true}}, 8, {2, 2}};
  expect_near(trained(moshpit(rule), nodes_of_two(4), 5), expected_weights(rule, 5, true));
}

/// On a full grid, with as many rounds as axes, every worker has the mean over all workers.
TEST_P(MoshpitRule, LeavesTheMeanOfAllAfterARoundAlongEveryAxis) {
  for (const Rule& rule :
       {Rule{Json::object(), 6, {}, 2, 2}, Rule{{{"dimensions", 3}}, 8, {}, 2, 3},
        Rule{{{"grid", {2, 2}}}, 4, {}, 2, 2}}) {
    SCOPED_TRACE(testing::Message() << moshpit(rule) << " of " << rule.ranks);
    Numbers x(rule.ranks, 1);
    for (long t = 0; t < 4; ++t) {
      x = step_down(x, gradients(x));
      if (t % 2 == 1) x.assign(rule.ranks, mean(x));
    }
    expect_near(trained(moshpit(rule), flat_cluster(static_cast<int>(rule.ranks)), 4), x);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, MoshpitRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::moshpit_test
