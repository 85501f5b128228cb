// 0/1 Adam, compared with plain loops over its equations. Weights and gradients differ from element
// to element and, during local steps, from worker to worker.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/algorithms/update_rules/coded_gradients.h"

namespace trigram::test::zeroone_adam_test {
namespace {

using namespace coded;

constexpr long kAll = 11, kFreeze = 5;
constexpr float kAdamLr = 0.25f;

/// Variants of the rule; the test must distinguish each of them.
struct Rule {
  bool feedback = true;
  bool keeps_variance_in_between = true;
  bool local_steps = true;
  bool sets_moment = true;
};

/// Of 5 steps, 0, 1, 2 and 4 update the variance (the interval doubles after three updates).
/// Averages follow the first, third and fifth local step (the interval doubles after one, up to 2).
bool updates_variance(long t) { return t < kFreeze && t != 3; }
bool averages(long t) { return (t - kFreeze) % 2 == 0; }

Vectors expected_weights(const WorkerSetup& workers, const Rule& rule) {
  const float b1 = 0.9f, b2 = 0.999f, eps = 1e-8f;
  const auto ranks = static_cast<std::size_t>(workers.ranks);
  const Average gradient_codes = scattered(workers, {"sign"}, rule.feedback);
  const Average moved_codes = scattered(workers, {"sign"}, rule.feedback);
  Vectors x(ranks, Vector(kNumel, 1)), m(ranks, Vector(kNumel, 0)), u = m;
  Vector v(kNumel, 0), start;
  float lr = 0;
  int updates = 0;
  for (long t = 0; t < kAll; ++t) {
    Vectors g;
    for (std::size_t r = 0; r < ranks; ++r) g.push_back(gradients(x[r], workers.ranks)[r]);
    const bool update = updates_variance(t) || (!rule.keeps_variance_in_between && t < kFreeze);
    if (t < kFreeze) {
      const Vector mean =
          averaged(workers, g, updates_variance(t) ? Average(plain_mean) : gradient_codes, t);
      g.assign(ranks, mean);
    }
    if (update) ++updates;
    if (t == kFreeze) start = x[0];
    lr += kAdamLr;
    const float c1 = 1 - std::pow(b1, static_cast<float>(t + 1));
    const auto c2 = [&] { return 1 - std::pow(b2, static_cast<float>(updates)); };
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t i = 0; i < kNumel; ++i) {
        m[r][i] = b1 * m[r][i] + (1 - b1) * g[r][i];
        if (update && r == 0) v[i] = b2 * v[i] + (1 - b2) * g[r][i] * g[r][i];
        u[r][i] += kAdamLr * m[r][i];
        x[r][i] -= kAdamLr * (m[r][i] / c1) / (std::sqrt(v[i] / c2()) + eps);
      }
    if (t < kFreeze) {
      u.assign(ranks, Vector(kNumel, 0));
      lr = 0;
    } else if (averages(t) || !rule.local_steps) {
      const Vector moved = averaged(workers, u, moved_codes, t);
      for (std::size_t i = 0; i < kNumel; ++i)
        start[i] -= moved[i] / c1 / (std::sqrt(v[i] / c2()) + eps);
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t i = 0; rule.sets_moment && i < kNumel; ++i) m[r][i] = moved[i] / lr;
      x.assign(ranks, start);
      u.assign(ranks, Vector(kNumel, 0));
      lr = 0;
    }
  }
  return x;
}

class ZeroOneAdamRule : public CodedGradients {};

TEST_P(ZeroOneAdamRule, CodesGradientsThenWhatWasMovedAlongMoments) {
  const Json spec = {{"name", "zeroone_adam"},
                     {"freeze_step", kFreeze},
                     {"variance_doubling", 3},
                     {"local_doubling", 1},
                     {"max_local_steps", 2}};
  for (const WorkerSetup workers : kWorkerSetups) {
    SCOPED_TRACE(testing::Message()
                 << workers.ranks << " workers, hierarchical " << workers.hierarchical);
    const Vectors expected = expected_weights(workers, {});
    expect_vectors_near(trained(workers, spec, kAll, {{"name", "adam"}, {"lr", kAdamLr}}), expected,
                        1e-4f);
    for (const Rule& other : {Rule{.feedback = false}, Rule{.keeps_variance_in_between = false},
                              Rule{.local_steps = false}, Rule{.sets_moment = false}})
      EXPECT_GT(largest_difference(expected, expected_weights(workers, other)), 1e-3)
          << "makes a difference";
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, ZeroOneAdamRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::zeroone_adam_test
