#include "netmodels/variation.h"

#include <algorithm>
#include <cmath>

#include "core/math/elementary.h"

namespace trigram {
namespace {

constexpr double kGolden = 0.6180339887498949;  // (sqrt(5) - 1) / 2
// The increments of the sequence for the other properties of a connection: irrational numbers that
// are not multiples of each other.
constexpr double kHop = 0.7548776662466927, kSource = 0.5698402909980532,
                 kDestination = 0.4142135623730951;

/// The quantile of a lognormal distribution at the fractional part of `x`.
double lognormal_quantile(double variation, double x) {
  const double share = std::clamp(x - std::floor(x), 1e-9, 1 - 1e-9);
  return static_cast<double>(exp_portable(static_cast<float>(variation * normal_quantile(share))));
}

double golden_quantile(double variation, int index) {
  return variation == 0 ? 1 : lognormal_quantile(variation, 0.25 + index * kGolden);
}

}  // namespace

double normal_quantile(double share) {
  const double tail = std::min(share, 1 - share);
  const double t = std::sqrt(-2 * log_portable(tail));
  const double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                           (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return share < 0.5 ? -z : z;
}

double worker_time_factor(double variation, int rank) { return golden_quantile(variation, rank); }

double node_throughput_factor(double variation, int node) {
  return golden_quantile(variation, node);
}

double connection_throughput_factor(double variation, const NodeConnection& c) {
  if (variation == 0) return 1;
  // All hops of a ring, including the closing hop, advance by the same number of nodes.
  const int hop = (c.destination_node - c.source_node + c.nodes) % c.nodes;
  const double first =
      0.25 + kHop * (hop - 1) + kSource * c.source_worker + kDestination * c.destination_worker;
  return lognormal_quantile(variation, first + kGolden * c.source_node);
}

}  // namespace trigram
