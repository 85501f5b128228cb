#include "experiments/tune/acquisition.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace trigram {
namespace {

double normal_density(double z) {
  return std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

double normal_distribution(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// log(z F(z) + f(z)). Far below 0, both terms nearly cancel and then underflow, so the asymptotic
/// series f(z) / z^2 (1 - 3/z^2 + 15/z^4) takes over, whose relative error is below 1e-6 there.
double log_improvement(double z) {
  if (z > -25) return std::log(z * normal_distribution(z) + normal_density(z));
  const double inverse = 1 / (z * z);
  return -z * z / 2 - std::log(2 * std::numbers::pi) / 2 + std::log(inverse) +
         std::log1p(-3 * inverse + 15 * inverse * inverse);
}

}  // namespace

double expected_improvement(const GaussianProcess::Prediction& p, double best) {
  return std::exp(log_expected_improvement(p, best));
}

double log_expected_improvement(const GaussianProcess::Prediction& p, double best) {
  const double gain = best - p.mean;
  if (p.deviation <= 0) return gain > 0 ? std::log(gain) : -std::numeric_limits<double>::infinity();
  return std::log(p.deviation) + log_improvement(gain / p.deviation);
}

double probability_of_improvement(const GaussianProcess::Prediction& p, double best) {
  if (p.deviation <= 0) return p.mean < best ? 1 : 0;
  return normal_distribution((best - p.mean) / p.deviation);
}

}  // namespace trigram
