#include "experiments/results/exchanges.h"

#include <fmt/format.h>

namespace trigram {
namespace {

/// The number of steps that count: all steps, or those until the target accuracy was reached.
long counted_steps(const Json& manifest) {
  const Json reached = manifest.at("summary").value(Json::json_pointer("/target/steps"), Json());
  return reached.is_number() ? reached.get<long>()
                             : manifest.at("experiment").at("steps").get<long>();
}

/// The shortfall for manifests of older programs, which have no `shortfall`.
std::string shortfall_by_counts(const Json& manifest) {
  const Json& summary = manifest.at("summary");
  const Json& cluster = manifest.at("experiment").at("cluster");
  if (cluster.at("nodes").get<long>() * cluster.at("workers_per_node").get<long>() == 1) return "";
  const long steps = counted_steps(manifest), every = summary.value("cycle_steps", 1L);
  if (steps < every)
    return fmt::format("made {} of the {} steps from one exchange to the next", steps, every);
  const auto sent = [&](const char* key) { return summary.value(key, 0.0); };
  if (sent("messages_intra") + sent("messages_inter") == 0)
    return fmt::format("sent nothing between its workers in {} steps", steps);
  return "";
}

}  // namespace

std::string missing_exchanges(const Json& manifest, Compared compared) {
  const auto shortfall = manifest.at("summary").find("shortfall");
  if (shortfall == manifest.at("summary").end()) return shortfall_by_counts(manifest);
  if (shortfall->is_null() || (compared == Compared::accuracy && shortfall->at("of") == "rates"))
    return "";
  return shortfall->at("why");
}

}  // namespace trigram
