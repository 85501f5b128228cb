// Methods whose workers average less than all of their models, or averages of earlier blocks,
// computed by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "algorithms/peers/registry.h"
#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::low_communication_test {
namespace {

using namespace centralised;

class LowCommunicationRules : public CentralisedRules {};

/// One local step of every worker.
void step(std::vector<double>& x) {
  for (std::size_t r = 0; r < x.size(); ++r) x[r] -= kLr * gradient(x[r], r);
}

/// The equations term by term: other workers' differences are those of the block before.
TEST_P(LowCommunicationRules, EagerOuterStepsUseFreshOwnAndLateOtherDifferences) {
  const double lr = 0.6, mu = 0.8;
  for (const int steps : {4, 7}) {
    const auto expected = [&](std::size_t ranks) {
      std::vector<double> x(ranks, 1), y(ranks, 1), v(ranks, 0), before(ranks, 0);
      for (int t = 1; t <= steps; ++t) {
        step(x);
        if (t % 2 != 0) continue;
        std::vector<double> d(ranks);
        for (std::size_t r = 0; r < ranks; ++r) d[r] = y[r] - x[r];
        for (std::size_t r = 0; r < ranks; ++r) {
          double g = d[r];
          for (std::size_t j = 0; j < ranks; ++j) g += j == r ? 0 : before[j];
          g /= static_cast<double>(ranks);
          v[r] = mu * v[r] + g;
          x[r] = y[r] -= lr * (g + mu * v[r]);
        }
        before = d;
      }
      return x;
    };
    check({{"name", "eager_diloco"}, {"sync_every", 2}, {"outer_lr", lr}, {"outer_momentum", mu}},
          steps, expected);
  }
}

/// Each worker on a node of its own.
TEST_P(LowCommunicationRules, NoLoCoPullsPairsTogether) {
  constexpr double kAlpha = 0.4, kBeta = 0.6, kGamma = 0.3;
  for (const int ranks : {4, 5}) {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<double> x(n, 1), y(n, 1), v(n, 0);
    const auto graph = make_peer_graph({"random_matching"}, 0);
    for (int t = 0; t < 6; ++t) {
      step(x);
      if (t % 2 == 0) continue;
      const std::vector<double> old_y = y, old_x = x;
      for (std::size_t i = 0; i < n; ++i) {
        const auto to = graph->peers(static_cast<int>(i), ranks, t).send_to;
        const std::size_t j = to.empty() ? i : static_cast<std::size_t>(to[0]);
        const double mean_d = (old_x[i] - old_y[i] + old_x[j] - old_y[j]) / 2;
        v[i] = kAlpha * v[i] + kBeta * mean_d - kGamma * (old_y[i] - old_y[j]) / 2;
        x[i] = y[i] = old_y[i] + v[i];
      }
    }
    AffineTraining run = training(ranks,
                                  {{"name", "noloco"},
                                   {"sync_every", 2},
                                   {"momentum", kAlpha},
                                   {"outer_lr", kBeta},
                                   {"pull", kGamma}},
                                  6, kSlope);
    run.lr = kLr;
    expect_near(common_weights(train(run)), x);
  }
}

/// topk keeps five of the ten weights, all of which are equal, and of equal ones the first.
TEST_P(LowCommunicationRules, SparseLoCoKeepsWhatItsCodeLost) {
  constexpr double kDecay = 0.75, kOuterLr = 0.5;
  constexpr std::size_t kRanks = 4, kWeights = 10;
  std::vector<std::vector<double>> x(kRanks, std::vector<double>(kWeights, 1)), e = x;
  std::vector<double> y(kWeights, 1);
  for (auto& residual : e) residual.assign(kWeights, 0);
  for (int t = 1; t <= 6; ++t) {
    for (std::size_t r = 0; r < kRanks; ++r)
      for (double& weight : x[r]) weight -= kLr * gradient(weight, r);
    if (t % 2 != 0) continue;
    std::vector<double> sum(kWeights, 0);
    for (std::size_t r = 0; r < kRanks; ++r) {
      std::vector<std::size_t> order(kWeights);
      std::iota(order.begin(), order.end(), std::size_t{0});
      for (std::size_t i = 0; i < kWeights; ++i) e[r][i] = kDecay * e[r][i] + y[i] - x[r][i];
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(e[r][a]) > std::abs(e[r][b]) + 1e-6;
      });
      for (std::size_t k = 0; k < kWeights / 2; ++k) {
        sum[order[k]] += e[r][order[k]];
        e[r][order[k]] = 0;
      }
    }
    for (std::size_t i = 0; i < kWeights; ++i) y[i] -= kOuterLr * sum[i] / kRanks;
    for (auto& weights : x) weights = y;
  }
  for (const bool through_store : {false, true}) {
    SCOPED_TRACE(through_store ? "through a store" : "around a ring");
    AffineTraining run = training(kRanks + (through_store ? 1 : 0),
                                  {{"name", "sparseloco"},
                                   {"sync_every", 2},
                                   {"decay", kDecay},
                                   {"outer_lr", kOuterLr},
                                   {"codec", {{"name", "topk"}, {"density", 0.5}}},
                                   {"through", through_store ? "store" : "peers"}},
                                  6, kSlope);
    run.lr = kLr;
    const auto ends = train(run);
    for (std::size_t i = 0; i < kWeights; ++i)
      for (std::size_t r = 0; r < kRanks; ++r) EXPECT_NEAR(ends[r].weights[i], y[i], 1e-5) << i;
    if (through_store) {
      for (const float w : ends[kRanks].weights) EXPECT_EQ(w, 1) << "the store does not train";
    }
  }
}

/// Exactly three of ten weights are the mean of all workers' weights after a step, and the others
/// are the workers' own. The positions differ from step to step.
TEST_P(LowCommunicationRules, SpartaAveragesSomeWeights) {
  constexpr std::size_t kRanks = 4, kWeights = 10;
  const auto trained = [](long steps) {
    AffineTraining run = training(kRanks, {{"name", "sparta"}, {"density", 0.3}}, steps, kSlope);
    run.lr = kLr;
    return weights_of(train(run));
  };
  std::vector<double> own(kRanks, 1);
  step(own);
  std::map<std::size_t, int> averaged;
  const auto first = trained(1);
  for (std::size_t i = 0; i < kWeights; ++i) {
    const bool drawn = std::abs(first[0][i] - mean(own)) < 1e-5;
    averaged[i] = drawn;
    for (std::size_t r = 0; r < kRanks; ++r)
      EXPECT_NEAR(first[r][i], drawn ? mean(own) : own[r], 1e-5) << r << " " << i;
  }
  EXPECT_EQ(std::count_if(averaged.begin(), averaged.end(), [](auto& a) { return a.second; }), 3);
  // A second step moves every weight by its own gradient, and averages three.
  const auto second = trained(2);
  int equal = 0, moved = 0;
  for (std::size_t i = 0; i < kWeights; ++i) {
    std::vector<double> next;
    for (std::size_t r = 0; r < kRanks; ++r)
      next.push_back(first[r][i] - kLr * gradient(first[r][i], r));
    const bool drawn = second[0][i] == second[1][i];
    equal += drawn;
    moved += drawn && !averaged[i];
    for (std::size_t r = 0; r < kRanks; ++r)
      EXPECT_NEAR(second[r][i], drawn ? mean(next) : next[r], 1e-5) << r << " " << i;
  }
  EXPECT_EQ(equal, 3);
  EXPECT_GT(moved, 0);
}

INSTANTIATE_TEST_SUITE_P(Worlds, LowCommunicationRules, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::low_communication_test
