// Centralised methods that average models, moments or rounded gradients, computed by hand for the
// gradient g_r(x) = slope x + r + 1. All weights of a rank are equal, so one number per rank is
// enough.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::centralised_test {
namespace {

using namespace centralised;

TEST_P(CentralisedRules, LocalSgdAveragesModelsEveryFewSteps) {
  const auto expected = [](std::size_t ranks) {
    std::vector<double> x(ranks, 1);
    for (int t = 0; t < 7; ++t) {
      for (std::size_t r = 0; r < ranks; ++r) x[r] -= kLr * gradient(x[r], r);
      if (t == 2 || t == 5) x.assign(ranks, mean(x));
    }
    return x;
  };
  check({{"name", "local_sgd"}, {"sync_every", 3}}, 7, expected);
}

TEST_P(CentralisedRules, SlowMoStepsAlongTheMomentumOfItsAverages) {
  const double alpha = 0.8, beta = 0.6;
  const auto expected = [&](std::size_t ranks) {
    std::vector<double> x(ranks, 1);
    double start = 1, u = 0;
    for (int t = 0; t < 9; ++t) {
      for (std::size_t r = 0; r < ranks; ++r) x[r] -= kLr * gradient(x[r], r);
      if (t % 2 == 0) continue;
      u = beta * u + (start - mean(x)) / kLr;
      start -= alpha * kLr * u;
      x.assign(ranks, start);
    }
    return x;
  };
  check({{"name", "slowmo"}, {"sync_every", 2}, {"slow_lr", alpha}, {"slow_momentum", beta}}, 9,
        expected);
}

/// The last average is in a step whose learning rate has decayed to 0.
TEST_P(CentralisedRules, SlowMoAveragesIfTheLearningRateIsZero) {
  const double beta = 0.5;
  const auto expected = [&](std::size_t ranks) {
    std::vector<double> x(ranks, 1);
    double start = 1, v = 0, lr_before = 0;  // v = lr u
    for (int t = 0; t < 6; ++t) {
      const double lr = t < 5 ? kLr : 0;
      for (std::size_t r = 0; r < ranks; ++r) x[r] -= lr * gradient(x[r], r);
      if (t % 3 != 2) continue;
      v = (lr_before > 0 ? beta * lr / lr_before * v : 0) + start - mean(x);
      start -= v;
      x.assign(ranks, start);
      lr_before = lr;
    }
    return x;
  };
  check({{"name", "slowmo"}, {"sync_every", 3}, {"slow_momentum", beta}}, 6, expected,
        {{"name", "sgd"}, {"lr", kLr}, {"decay", "step"}, {"decay_every", 5}, {"decay_factor", 0}});
}

/// In the first step of a warm-up the learning rate is so small that 1 / lr overflows f32.
TEST_P(CentralisedRules, SlowMoAllowsALearningRateNearZero) {
  const auto expected = [](std::size_t ranks) { return std::vector<double>(ranks, 1); };
  check({{"name", "slowmo"}, {"sync_every", 1}}, 4, expected, {{"name", "sgd"}, {"lr", 1e-39}});
}

TEST_P(CentralisedRules, SlowMoWithoutMomentumIsLocalSgd) {
  AffineTraining training{.world = GetParam(), .cluster = flat_cluster(4), .steps = 8};
  training.algorithm = {{"name", "slowmo"}, {"sync_every", 4}, {"slow_momentum", 0}};
  const auto slowmo = common_weights(train(training));
  training.algorithm = {{"name", "local_sgd"}, {"sync_every", 4}};
  expect_near(slowmo, common_weights(train(training)));
}

/// Sixteen bits represent the gradients r + 1 divided by 4 or 8, and their sums, exactly. They do
/// not represent other gradients exactly; their order of summation, and hence their rounding,
/// differs from part to part.
TEST_P(CentralisedRules, HalfPrecisionRoundsGradientsAndSums) {
  for (const auto& [format, unit] : {std::pair{"fp16", 1.0 / 2048}, std::pair{"bf16", 1.0 / 256}}) {
    AffineTraining training{.world = GetParam(), .cluster = flat_cluster(4)};
    training.algorithm = {{"name", "half_precision_allreduce"}, {"format", format}};
    training.slope = 0;
    const double exact = 1 - 3 * kLr * mean_gradient(0, 4);
    expect_near(common_weights(train(training)), std::vector<double>(4, exact));

    training.slope = 1.0 / 3;
    double x = 1, error = 0;
    for (int t = 0; t < 3; ++t) {
      const double gradient = training.slope * x + 2.5;  // gradient of the mean rank
      error += kLr * 8 * unit * (gradient + 2);          // at most eight roundings
      x -= kLr * gradient;
    }
    double farthest = 0;
    for (const AffineEnd& end : train(training))
      for (const float w : end.weights) farthest = std::max(farthest, std::abs(w - x));
    EXPECT_LT(farthest, error) << format;
    EXPECT_GT(farthest, 1e-5) << format << " rounds";
  }
}

/// BAGUA's QAdam: Adam on the mean gradient until the last step of the warm-up, which ignores the
/// gradient. Then it steps along the mean moment with a frozen variance.
double qadam_weight(std::size_t ranks, int steps, int warmup, double lr) {
  const double b1 = 0.9, b2 = 0.999, eps = 1e-8;
  double x = 1, m = 0, v = 0;
  for (int t = 1; t <= steps; ++t) {
    // All moments are equal, so their mean is linear in g.
    const double g = mean_gradient(x, ranks);
    if (t != warmup) m = b1 * m + (1 - b1) * g;
    if (t < warmup) v = b2 * v + (1 - b2) * g * g;
    x -= lr * (m / (1 - std::pow(b1, t))) / (std::sqrt(v / (1 - std::pow(b2, t))) + eps);
  }
  return x;
}

/// 1-bit Adam as in DeepSpeed: m = b1 m + (1 - b1) g, then x = x - lr m / (scale + eps). `scale` is
/// Adam's divisor in the last step of the warm-up and stays constant. In addition, m is
/// bias-corrected as in Adam; DeepSpeed's code does not do this.
double onebit_adam_weight(std::size_t ranks, int steps, int warmup, double lr) {
  double x = 1, m = 0, v = 0, scale = 0, weight_of_m = 0, weight_of_v = 0;
  for (int t = 0; t < steps; ++t) {
    const double g = mean_gradient(x, ranks);
    m = 0.9 * m + 0.1 * g;
    weight_of_m = 0.9 * weight_of_m + 0.1;  // the value that m would have if all gradients were 1
    if (t < warmup) {
      v = 0.999 * v + 0.001 * g * g;
      weight_of_v = 0.999 * weight_of_v + 0.001;
      scale = std::sqrt(v / weight_of_v);
    }
    x -= lr * m / weight_of_m / (scale + 1e-8);
  }
  return x;
}

TEST_P(CentralisedRules, QAdamFreezesTheVarianceAndExchangesMoments) {
  const auto expected = [](std::size_t ranks) {
    return std::vector<double>(ranks, qadam_weight(ranks, 7, 3, 0.05));
  };
  check({{"name", "qadam"}, {"warmup_steps", 3}}, 7, expected, {{"name", "adam"}, {"lr", 0.05}});
}

/// Signs times the norm are exact if all elements are equal.
TEST_P(CentralisedRules, OneBitAdamFreezesItsDivisorAndExchangesSigns) {
  const auto expected = [](std::size_t ranks) {
    return std::vector<double>(ranks, onebit_adam_weight(ranks, 6, 2, 0.05));
  };
  check({{"name", "onebit_adam"}, {"warmup_steps", 2}}, 6, expected,
        {{"name", "adam"}, {"lr", 0.05}});
}

/// If all elements are kept, nothing is lost.
TEST_P(CentralisedRules, TopKOfEverythingIsTheMeanGradient) {
  const auto expected = [](std::size_t ranks) {
    double x = 1;
    for (int t = 0; t < 4; ++t) x -= kLr * mean_gradient(x, ranks);
    return std::vector<double>(ranks, x);
  };
  check({{"name", "topk"}, {"codec", {{"name", "topk"}, {"density", 1}}}}, 4, expected);
}

TEST_P(CentralisedRules, MomentsOfSgdAreExchangedToo) {
  const auto expected = [](std::size_t ranks) {
    double x = 1, m = 0;
    for (int t = 0; t < 5; ++t) {
      if (t != 1) m = 0.5 * m + mean_gradient(x, ranks) + 0.1 * x;  // the last step of the warm-up
      x -= kLr * m;
    }
    return std::vector<double>(ranks, x);
  };
  check({{"name", "qadam"}, {"warmup_steps", 2}}, 5, expected,
        {{"name", "sgd"}, {"lr", kLr}, {"momentum", 0.5}, {"weight_decay", 0.1}});
}

INSTANTIATE_TEST_SUITE_P(Worlds, CentralisedRules, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::centralised_test
