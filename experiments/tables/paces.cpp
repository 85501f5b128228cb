#include "experiments/tables/paces.h"

#include <fmt/format.h>

namespace trigram {

std::string pace_text(double samples_per_s) {
  return samples_per_s < 100 ? fmt::format("{:.3g}", samples_per_s)
                             : fmt::format("{:.0f}", samples_per_s);
}

std::string paces_text(double slowest, double fastest) {
  return fmt::format(" ({} to {})", pace_text(slowest), pace_text(fastest));
}

}  // namespace trigram
