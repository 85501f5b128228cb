#include "experiments/tune/gaussian_process.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "experiments/tune/maximise.h"

namespace trigram {
namespace {

using Hyperparameters = GaussianProcess::Hyperparameters;

constexpr double kLeastLength = 0.05, kMostLength = 20, kLeastNoise = 1e-8, kMostNoise = 1;

constexpr int kEvaluationsPerParameter = 20;
/// One of so many fits also begins from the middle of the bounds, which takes as long again, in
/// case the last hyperparameters are near a local maximum only.
constexpr std::size_t kFromTheMiddleEvery = 4;

/// The square root of a variance that rounding may have made negative.
double root(double variance) { return std::sqrt(std::max(0.0, variance)); }

double scaled(double value, double least, double most) {
  return std::clamp(std::log(value / least) / std::log(most / least), 0.0, 1.0);
}

/// Hyperparameters as a position of the unit cube on which NLopt works; the noise comes last.
Position to_cube(const Hyperparameters& h) {
  Position position;
  for (const double length : h.lengths)
    position.push_back(scaled(length, kLeastLength, kMostLength));
  position.push_back(scaled(h.noise, kLeastNoise, kMostNoise));
  return position;
}

Hyperparameters from_cube(const Position& position) {
  Hyperparameters h;
  for (std::size_t i = 0; i + 1 < position.size(); ++i)
    h.lengths.push_back(kLeastLength * std::pow(kMostLength / kLeastLength, position[i]));
  h.noise = kLeastNoise * std::pow(kMostNoise / kLeastNoise, position.back());
  return h;
}

}  // namespace

GaussianProcess::GaussianProcess(Observations observations, Hyperparameters hyperparameters)
    : seen_(std::move(observations)), hyperparameters_(std::move(hyperparameters)) {
  TRIGRAM_CHECK(!seen_.values.empty(), "a process needs observations");
  factorise();
}

double GaussianProcess::correlation(const Position& a, const Position& b) const {
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = seen_.categorical[i] ? (a[i] == b[i] ? 0.0 : 1.0) : a[i] - b[i];
    const double part = difference / hyperparameters_.lengths[i];
    square += part * part;
  }
  const double distance = std::sqrt(5 * square);
  return (1 + distance + distance * distance / 3) * std::exp(-distance);
}

void GaussianProcess::factorise() {
  const auto n = static_cast<Eigen::Index>(seen_.values.size());
  const auto at = [this](Eigen::Index i) -> const Position& {
    return seen_.positions[static_cast<std::size_t>(i)];
  };
  Eigen::MatrixXd matrix(n, n);
  for (Eigen::Index j = 0; j < n; ++j)  // LLT reads only the lower triangle
    for (Eigen::Index i = j; i < n; ++i)
      matrix(i, j) = i == j ? 1 + hyperparameters_.noise : correlation(at(i), at(j));
  factor_.compute(matrix);
  const Eigen::Map<const Eigen::VectorXd> values(seen_.values.data(), n);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(n);
  const Eigen::VectorXd solved = factor_.solve(ones);
  mean_ = solved.dot(values) / solved.sum();
  const Eigen::VectorXd deviations = values - mean_ * ones;
  weights_ = factor_.solve(deviations);
  // Equal values have no variance; the least one keeps the likelihood finite.
  variance_ = std::max(deviations.dot(weights_) / static_cast<double>(n), 1e-24);
  const double log_determinant =
      2 * Eigen::MatrixXd(factor_.matrixL()).diagonal().array().log().sum();
  log_likelihood_ = -0.5 * (static_cast<double>(n) * std::log(variance_) + log_determinant);
}

GaussianProcess::Prediction GaussianProcess::predict(const Position& position) const {
  const auto n = static_cast<Eigen::Index>(seen_.values.size());
  Eigen::VectorXd correlations(n);
  for (Eigen::Index i = 0; i < n; ++i)
    correlations(i) = correlation(position, seen_.positions[static_cast<std::size_t>(i)]);
  const double mean = mean_ + correlations.dot(weights_);
  factor_.matrixL().solveInPlace(correlations);
  return {mean, root(variance_ * (1 - correlations.squaredNorm()))};
}

double GaussianProcess::noise_deviation() const { return root(variance_ * hyperparameters_.noise); }

Hyperparameters most_likely(const GaussianProcess::Observations& observations,
                            const Hyperparameters& start) {
  const auto likelihood = [&observations](const Position& position) {
    const double value = GaussianProcess(observations, from_cube(position)).log_likelihood();
    return std::isfinite(value) ? value : -1e300;
  };
  const int evaluations = kEvaluationsPerParameter * static_cast<int>(start.lengths.size() + 1);
  Position best;
  double largest = 0;
  std::vector<Position> starts = {to_cube(start)};
  if (observations.values.size() % kFromTheMiddleEvery == 0)
    starts.emplace_back(start.lengths.size() + 1, 0.5);
  for (const Position& from : starts) {
    const Position found = climb(likelihood, from, evaluations);
    const double value = likelihood(found);
    if (!best.empty() && value <= largest) continue;
    best = found;
    largest = value;
  }
  return from_cube(best);
}

}  // namespace trigram
