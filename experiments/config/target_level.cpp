#include "experiments/config/target_level.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace trigram {

std::string TargetLevel::text() const {
  return of == Of::accuracy ? fmt::format("{:g} %", 100 * level) : fmt::format("loss {:g}", level);
}

double TargetLevel::lacking(const Quality& quality) const {
  constexpr double kNothingUsable = std::numeric_limits<double>::infinity();
  if (of == Of::accuracy) return quality.accuracy ? level - *quality.accuracy : kNothingUsable;
  return std::isfinite(quality.loss) ? quality.loss - level : kNothingUsable;
}

std::optional<TargetLevel> TargetLevel::named(const std::string& name, double level) {
  for (const Of of : {Of::accuracy, Of::loss})
    if (const TargetLevel target{of, level}; target.name() == name) return target;
  return std::nullopt;
}

std::string TargetLevel::allowed() const {
  return of == Of::accuracy ? "an accuracy above 0 and up to 1" : "a finite loss above 0";
}

bool TargetLevel::is_allowed() const {
  return std::isfinite(level) && level > 0 && (of == Of::loss || level <= 1);
}

}  // namespace trigram
