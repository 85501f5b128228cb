#include "experiments/tune/gaussian_process.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace trigram::gaussian_process_test {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

double determinant(const Matrix& m) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/// The solution of m x = b by Cramer's rule.
Vector solved(const Matrix& m, const Vector& b) {
  Vector x{};
  for (std::size_t column = 0; column < 3; ++column) {
    Matrix replaced = m;
    for (std::size_t row = 0; row < 3; ++row) replaced[row][column] = b[row];
    x[column] = determinant(replaced) / determinant(m);
  }
  return x;
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Matern 5/2 as in equation 4.17 of Rasmussen and Williams.
double matern(double r) {
  return (1 + std::sqrt(5.0) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5.0) * r);
}

/// The process on two dimensions, of which the second is categorical, written out for 3 points.
struct Reference {
  std::vector<Position> x = {{0.1, 0.25}, {0.4, 0.75}, {0.9, 0.25}};
  Vector y = {1.5, -0.5, 2.0};
  double length_0 = 0.3, length_1 = 0.7, noise = 0.01;

  double correlation(const Position& a, const Position& b) const {
    const double first = (a[0] - b[0]) / length_0, second = a[1] == b[1] ? 0 : 1 / length_1;
    return matern(std::sqrt(first * first + second * second));
  }
  Matrix matrix() const {
    Matrix m{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) m[i][j] = correlation(x[i], x[j]) + (i == j ? noise : 0);
    return m;
  }
  double mean() const {
    const Vector weights = solved(matrix(), {1, 1, 1});
    return dot(weights, y) / (weights[0] + weights[1] + weights[2]);
  }
  Vector deviations() const { return {y[0] - mean(), y[1] - mean(), y[2] - mean()}; }
  double variance() const { return dot(deviations(), solved(matrix(), deviations())) / 3; }
  GaussianProcess process() const {
    return {{x, {y.begin(), y.end()}, {false, true}}, {{length_0, length_1}, noise}};
  }
};

TEST(GaussianProcess, ThePosteriorIsThatOfThreePointsByHand) {
  const Reference reference;
  const GaussianProcess process = reference.process();
  for (const Position& at : std::vector<Position>{{0.2, 0.25}, {0.4, 0.25}, {0.95, 0.75}}) {
    Vector c{};
    for (std::size_t i = 0; i < 3; ++i) c[i] = reference.correlation(at, reference.x[i]);
    const double mean =
        reference.mean() + dot(c, solved(reference.matrix(), reference.deviations()));
    const double variance = reference.variance() * (1 - dot(c, solved(reference.matrix(), c)));
    EXPECT_NEAR(process.predict(at).mean, mean, 1e-12);
    EXPECT_NEAR(process.predict(at).deviation, std::sqrt(variance), 1e-12);
  }
  EXPECT_NEAR(process.noise_deviation(), std::sqrt(reference.variance() * 0.01), 1e-12);
}

TEST(GaussianProcess, TheLikelihoodIsThatOfANormalDistribution) {
  // log N(y; mean, s^2 C) = -n/2 log(2 pi s^2) - log|C| / 2 - r C^-1 r / (2 s^2); the last term is
  // -n/2 for the most likely s^2.
  const Reference reference;
  const double expected =
      -1.5 * std::log(reference.variance()) - 0.5 * std::log(determinant(reference.matrix()));
  EXPECT_NEAR(reference.process().log_likelihood(), expected, 1e-12);
}

/// Observations of sin(6 x) on the first of two dimensions; the second has no effect.
GaussianProcess::Observations waves() {
  GaussianProcess::Observations seen;
  for (int i = 0; i < 25; ++i) {
    const double x = 0.04 * i + 0.02, y = std::fmod(0.618 * i, 1.0);
    seen.positions.push_back({x, y});
    seen.values.push_back(std::sin(6 * x));
  }
  seen.categorical = {false, false};
  return seen;
}

TEST(GaussianProcess, FittedLengthsTellWhichDimensionsMatter) {
  const auto fitted = most_likely(waves(), {{0.5, 0.5}, 1e-4});
  EXPECT_GT(fitted.lengths[1], 5 * fitted.lengths[0]);
  EXPECT_LT(fitted.noise, 1e-4);
  const GaussianProcess process(waves(), fitted);
  EXPECT_NEAR(process.predict({0.5, 0.1}).mean, std::sin(3.0), 0.01);
  for (const double factor : {0.5, 2.0}) {
    auto other = fitted;
    other.lengths[0] *= factor;
    EXPECT_LT(GaussianProcess(waves(), other).log_likelihood(), process.log_likelihood());
  }
}

TEST(GaussianProcess, EqualValuesHaveNoDeviation) {
  const GaussianProcess process({{{0.1}, {0.6}}, {3, 3}, {false}}, {{0.5}, 1e-6});
  EXPECT_DOUBLE_EQ(process.predict({0.3}).mean, 3);
  EXPECT_LT(process.predict({0.3}).deviation, 1e-9);
}

}  // namespace
}  // namespace trigram::gaussian_process_test
