#include "experiments/results/reached.h"

#include <algorithm>
#include <cmath>

namespace trigram {
namespace {

/// The share of the time that an interval makes up where it is the fifth of equal ones.
constexpr double kCoarse = 1.0 / 5, kRounding = 1e-9;

}  // namespace

bool Reached::coarse() const {
  return std::isfinite(time_s) && time_s - after_s > kCoarse * time_s * (1 + kRounding);
}

bool Reached::may_precede(const Reached& best) const {
  return time_s <= (1 + kTie) * best.time_s || after_s < std::min(time_s, best.time_s);
}

std::string Reached::text(const std::function<std::string(double)>& show) const {
  const std::string begin = show(after_s), end = show(time_s);
  const std::string interval = after_s == 0 ? "≤" + end : begin == end ? end : begin + "–" + end;
  return interval + (coarse() ? " ~" : "");
}

}  // namespace trigram
