#include "experiments/results/time_to_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trigram {
namespace {

/// The longest interval that is not coarse, as a fraction of `time_s`: the last of five equal
/// intervals.
constexpr double kCoarse = 1.0 / 5, kRounding = 1e-9;

/// Three digits, never with an exponent.
std::string three_digits(double seconds) {
  const int whole = seconds > 0 ? static_cast<int>(std::floor(std::log10(seconds))) : 0;
  return fmt::format("{:.{}f}", seconds, std::max(0, 2 - whole));
}

}  // namespace

bool TimeToTarget::is_coarse() const {
  return std::isfinite(time_s) && time_s - after_s > kCoarse * time_s * (1 + kRounding);
}

bool TimeToTarget::may_precede(const TimeToTarget& best) const {
  return time_s <= (1 + kTie) * best.time_s || after_s < std::min(time_s, best.time_s);
}

std::string TimeToTarget::text() const {
  const std::string begin = three_digits(after_s), end = three_digits(time_s);
  const std::string span = after_s == 0 ? "≤" + end : begin == end ? end : begin + "–" + end;
  return span + (is_coarse() ? " ~" : "");
}

std::string coarse_legend(const TargetLevel& target) {
  return fmt::format(
      "~ coarse: an interval longer than a fifth of its end, too long to rank what may be as "
      "early; "
      "a smaller eval_every or {} tells more\n",
      target.harder());
}

}  // namespace trigram
