#include "experiments/results/exchanges.h"

namespace trigram {

std::string missing_exchanges(const Json& manifest, Compared compared) {
  const Json shortfall = manifest.at("summary").value("shortfall", Json());
  if (shortfall.is_null() || (compared == Compared::accuracy && shortfall.at("of") == "rates"))
    return "";
  return shortfall.at("why");
}

}  // namespace trigram
