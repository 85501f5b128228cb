#include "core/random/dirichlet.h"

#include <algorithm>
#include <cmath>

#include "core/math/elementary.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

/// Uniform on (0, 1].
double positive_uniform(Philox& random) {
  const std::uint64_t high = random.bits() >> 5, low = random.bits() >> 6;  // 53 bits
  return static_cast<double>((high << 26 | low) + 1) * 0x1p-53;
}

/// The method of Box and Muller. Philox::normal has no tails, but the rejection below relies on
/// them.
double normal(Philox& random) {
  const double radius = std::sqrt(-2 * log_portable(positive_uniform(random)));
  return radius * cos_pi_portable(positive_uniform(random));
}

/// The logarithm of a gamma variate with shape `alpha` >= 1.
double log_gamma_of_large_shape(Philox& random, double alpha) {
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(random), root = 1 + c * x, v = root * root * root;
    const double u = positive_uniform(random);
    if (v <= 0) continue;
    const double log_v = log_portable(v);
    if (log_portable(u) < 0.5 * x * x + d - d * v + d * log_v) return log_portable(d) + log_v;
  }
}

double log_gamma(Philox& random, double alpha) {
  if (alpha >= 1) return log_gamma_of_large_shape(random, alpha);
  const double larger = log_gamma_of_large_shape(random, alpha + 1);
  return larger + log_portable(positive_uniform(random)) / alpha;
}

}  // namespace

std::vector<double> dirichlet(Philox& random, double alpha, std::size_t n) {
  std::vector<double> shares(n);
  for (double& share : shares) share = log_gamma(random, alpha);
  const double largest = *std::ranges::max_element(shares);
  double sum = 0;
  for (double& share : shares)
    sum += share = static_cast<double>(exp_portable(static_cast<float>(share - largest)));
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace trigram
