#include "netmodels/variation.h"

#include <algorithm>
#include <cmath>

#include "core/math/elementary.h"

namespace trigram {
namespace {

constexpr double kGolden = 0.6180339887498949;  // (sqrt(5) - 1) / 2
// For the other differences between two connections: irrational numbers that are not multiples of
// each other.
constexpr double kShift = 0.7548776662466927, kSource = 0.5698402909980532,
                 kDestination = 0.4142135623730951;

double place(double x) {
  const double share = x - std::floor(x);
  return std::clamp(share, 1e-9, 1 - 1e-9);
}

double lognormal_quantile(double variation, double share) {
  return static_cast<double>(exp_portable(static_cast<float>(variation * normal_quantile(share))));
}

}  // namespace

double normal_quantile(double share) {
  const double tail = std::min(share, 1 - share);
  const double t = std::sqrt(-2 * log_portable(tail));
  const double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                           (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return share < 0.5 ? -z : z;
}

double worker_slowness(double variation, int rank) {
  if (variation == 0) return 1;
  return lognormal_quantile(variation, place(0.25 + rank * kGolden));
}

double node_swiftness(double variation, int node) {
  if (variation == 0) return 1;
  return lognormal_quantile(variation, place(0.25 + node * kGolden));
}

double connection_swiftness(double variation, const NodeConnection& c) {
  if (variation == 0) return 1;
  // All hops of a ring, including the closing hop, advance by the same number of nodes.
  const int hop = (c.destination_node - c.source_node + c.nodes) % c.nodes;
  const double first =
      0.25 + kShift * (hop - 1) + kSource * c.source_worker + kDestination * c.destination_worker;
  return lognormal_quantile(variation, place(first + kGolden * c.source_node));
}

}  // namespace trigram
