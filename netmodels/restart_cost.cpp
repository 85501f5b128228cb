#include "netmodels/restart_cost.h"

#include <algorithm>
#include <cmath>

namespace trigram {

std::int64_t RestartCost::interval(double step_s, std::int64_t nodes) const {
  if (every > 0) return every;
  const double best_s = std::sqrt(2 * checkpoint_s * node_mtbf_s / static_cast<double>(nodes));
  return std::max<std::int64_t>(1, std::llround(best_s / step_s));
}

double RestartCost::goodput(double step_s, std::int64_t nodes) const {
  if (none()) return 1;
  const double rate = static_cast<double>(nodes) / node_mtbf_s;
  const double useful_s = static_cast<double>(interval(step_s, nodes)) * step_s;
  const double takes_s =
      (1 / rate + detection_s + restart_s) * std::expm1(rate * (useful_s + checkpoint_s));
  return useful_s / takes_s;
}

double RestartCost::presence() const {
  return none() ? 1 : node_mtbf_s / (node_mtbf_s + detection_s + restart_s);
}

}  // namespace trigram
