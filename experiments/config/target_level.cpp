#include "experiments/config/target_level.h"

#include <fmt/format.h>

#include <cmath>

namespace trigram {

std::string TargetLevel::text() const {
  return of == Of::accuracy ? fmt::format("{:g} %", 100 * level) : fmt::format("loss {:g}", level);
}

bool TargetLevel::reached_by(const Quality& quality) const {
  if (of == Of::accuracy) return quality.accuracy && *quality.accuracy >= level;
  return std::isfinite(quality.loss) && quality.loss <= level;
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
