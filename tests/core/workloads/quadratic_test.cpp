#include "core/workloads/quadratic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/device/host_device.h"
#include "core/random/philox.h"

namespace trigram::quadratic_test {
namespace {

/// One rank's problem and its vectors.
struct Problem {
  explicit Problem(const QuadraticOptions& options, int rank = 0, int ranks = 1)
      : model(host, options, {rank, ranks, 3}),
        weights(host.empty(options.dimension)),
        gradients(host.empty(options.dimension)) {
    model.initialise(weights.floats());
  }
  /// Computes the gradient at `weights`. Every call draws new noise and overwrites the last result.
  std::span<float> gradient() {
    model.forward(host, weights);
    model.backward(host, weights, gradients, [] {});
    return gradients.floats();
  }
  std::vector<float> gradient_copy() {
    const std::span<float> g = gradient();
    return {g.begin(), g.end()};
  }
  void move_to(std::span<const float> w) { std::ranges::copy(w, weights.floats().begin()); }

  HostDevice host;
  Quadratic model;
  Tensor weights, gradients;
};

double norm(std::span<const float> x) {
  double squares = 0;
  for (float v : x) squares += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(squares);
}

TEST(Quadratic, GradientVanishesAtTheOptimumOnly) {
  Problem p({.dimension = 20, .condition = 50});
  EXPECT_GT(norm(p.gradient()), 0.1);
  EXPECT_GT(p.model.evaluate(p.weights.floats(), kAllSamples).loss, 0.1);
  p.move_to(p.model.optimum());
  EXPECT_LT(norm(p.gradient()), 1e-5);
  EXPECT_LT(p.model.evaluate(p.weights.floats(), kAllSamples).loss, 1e-9);
  EXPECT_LT(p.model.loss(), 1e-9);
  EXPECT_FALSE(p.model.evaluate(p.weights.floats(), kAllSamples).accuracy.has_value());
}

TEST(Quadratic, GradientAgreesWithFiniteDifferences) {
  Problem p({.dimension = 9, .condition = 4, .tensors = 2});
  const std::vector<float> g = p.gradient_copy();
  for (std::size_t i = 0; i < 9; ++i) {
    auto loss_at = [&](float x) {
      p.weights.floats()[i] = x;
      p.model.forward(p.host, p.weights);
      return p.model.loss();
    };
    const double slope = (loss_at(0.5f) - loss_at(-0.5f));
    p.weights.floats()[i] = 0;
    EXPECT_NEAR(slope, g[i], 1e-4);
  }
}

TEST(Quadratic, EigenvaluesSpanTheConditionNumber) {
  // Power iteration on the Hessian H, and on I - H, whose largest eigenvalue is 1 - 1/condition.
  const double condition = 8;
  Problem p({.dimension = 12, .condition = condition});
  // H v = gradient(v) - gradient(0).
  const std::vector<float> gradient_at_zero = p.gradient_copy();
  auto largest = [&](bool complement) {
    std::vector<float> v(12, 0.0f);
    Philox random(1, 0, 0, Purpose::data_set);
    for (float& x : v) x = random.normal();
    double eigenvalue = 0;
    for (int iteration = 0; iteration < 600; ++iteration) {
      const double length = norm(v);
      for (float& x : v) x = static_cast<float>(x / length);
      p.move_to(v);
      const auto g = p.gradient();
      for (std::size_t i = 0; i < 12; ++i) {
        const float hv = g[i] - gradient_at_zero[i];
        v[i] = complement ? v[i] - hv : hv;
      }
      eigenvalue = norm(v);
    }
    return eigenvalue;
  };
  EXPECT_NEAR(largest(false), 1, 1e-3);
  EXPECT_NEAR(largest(true), 1 - 1 / condition, 1e-3);
}

TEST(Quadratic, GradientDescentConvergesAtTheRateOfItsCondition) {
  Problem p({.dimension = 30, .condition = 10});
  const double start = p.model.evaluate(p.weights.floats(), kAllSamples).loss;
  for (int step = 0; step < 50; ++step) {
    const auto g = p.gradient();
    for (std::size_t i = 0; i < 30; ++i) p.weights.floats()[i] -= g[i];
  }
  // With step length 1, each step multiplies the slowest component by 1 - 1/10, and its part of the
  // loss by the square of that.
  EXPECT_LT(p.model.evaluate(p.weights.floats(), kAllSamples).loss, start * std::pow(0.9, 100));
}

TEST(Quadratic, NoiseHasItsDeviationAndMeanZero) {
  Problem quiet({.dimension = 50}), noisy({.dimension = 50, .noise = 0.5});
  const std::vector<float> mean = quiet.gradient_copy();
  double sum = 0, squares = 0;
  for (int step = 0; step < 200; ++step) {
    const auto g = noisy.gradient();
    for (std::size_t i = 0; i < 50; ++i)
      sum += g[i] - mean[i], squares += std::pow(g[i] - mean[i], 2);
  }
  EXPECT_NEAR(sum / 1e4, 0, 0.02);  // four standard errors
  EXPECT_NEAR(std::sqrt(squares / 1e4), 0.5, 0.02);
}

TEST(Quadratic, NoiseIsKeyedByRankAndStep) {
  const QuadraticOptions options{.dimension = 8, .noise = 1};
  auto draw = [&](int rank, int steps) {
    Problem p(options, rank, 2);
    for (int step = 0; step < steps; ++step) p.gradient();
    return p.gradient_copy();
  };
  Problem first(options, 0, 2), again(options, 0, 2), other(options, 1, 2);
  const auto a = first.gradient();
  const auto b = again.gradient();
  EXPECT_TRUE(std::ranges::equal(a, b));
  EXPECT_FALSE(std::ranges::equal(a, other.gradient()));
  EXPECT_NE(draw(0, 0), draw(0, 1));
}

class Heterogeneous : public ::testing::TestWithParam<int> {};

TEST_P(Heterogeneous, TheMeanObjectiveHasTheKnownOptimum) {
  const int ranks = GetParam();
  const QuadraticOptions options{.dimension = 16, .heterogeneity = 2};
  std::vector<double> mean(16, 0.0);
  double sum_of_norms = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    Problem p(options, rank, ranks);
    p.move_to(p.model.optimum());
    const auto g = p.gradient();
    sum_of_norms += norm(g);
    for (std::size_t i = 0; i < 16; ++i) mean[i] += g[i];
  }
  for (double g : mean) EXPECT_NEAR(g, 0, 1e-4);
  // The gradients of several ranks cancel out at the common optimum, but are not zero.
  EXPECT_EQ(sum_of_norms > 1, ranks > 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Heterogeneous, ::testing::Values(1, 2, 5, 8));

TEST(Quadratic, TensorsCoverTheVector) {
  Problem p({.dimension = 10, .tensors = 4});
  EXPECT_EQ(p.model.tensor_lengths(), (std::vector<std::size_t>{2, 3, 2, 3}));
}

}  // namespace
}  // namespace trigram::quadratic_test
