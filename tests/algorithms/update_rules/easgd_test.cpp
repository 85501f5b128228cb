// Elastic averaging, computed by hand: the models of the workers, and the centre, which is the
// result.

#include <gtest/gtest.h>

#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::easgd_test {
namespace {

using namespace centralised;

class EasgdRule : public CentralisedRules {};

/// The models of the workers and the centre after each step. Exchanges follow every second step and
/// the last step.
struct Reference {
  Reference(std::size_t ranks, int steps, double beta) : x(ranks, 1), paths(ranks) {
    for (int t = 0; t < steps; ++t) {
      for (std::size_t r = 0; r < ranks; ++r) x[r] -= kLr * gradient(x[r], r);
      if (t % 2 == 1 || t == steps - 1) pull(beta / static_cast<double>(ranks));
      if (t == steps - 1) x.assign(ranks, centre);
      for (std::size_t r = 0; r < ranks; ++r) paths[r].push_back(x[r]);
    }
  }
  void pull(double alpha) {
    double sum = 0;
    for (double& weight : x) {
      const double difference = weight - centre;
      weight -= alpha * difference;
      sum += difference;
    }
    centre += alpha * sum;
  }
  std::vector<double> x;
  std::vector<std::vector<double>> paths;
  double centre = 1;
};

TEST_P(EasgdRule, WorkersAndCentrePullAtEachOther) {
  for (const double beta : {0.9, 0.4})
    for (const int steps : {5, 6}) {
      const Json spec = {{"name", "easgd"}, {"sync_every", 2}, {"beta", beta}};
      check(spec, steps, [&](std::size_t ranks) { return Reference(ranks, steps, beta).x; });
    }
}

TEST_P(EasgdRule, WorkersStayApart) {
  constexpr std::size_t kRanks = 4;
  const Reference reference(kRanks, 7, 0.9);
  const auto ends = train(training(kRanks, {{"name", "easgd"}, {"sync_every", 2}}, 7, kSlope));
  ASSERT_EQ(ends.size(), kRanks);
  for (std::size_t r = 0; r < kRanks; ++r)
    expect_near({ends[r].path.begin(), ends[r].path.end()}, reference.paths[r]);
  EXPECT_GT(reference.paths[0][5] - reference.paths[3][5], 0.5) << "until the last step";
}

INSTANTIATE_TEST_SUITE_P(Worlds, EasgdRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::easgd_test
