#include "experiments/results/manifest.h"

#include <fmt/chrono.h>

#include <chrono>

#include "experiments/results/machine.h"
#include "experiments/version.h"

namespace trigram {

std::string utc_now() {
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

namespace {

/// Warnings about emulated links that differ from their configuration.
Json warnings_of_links(const Json& links) {
  Json warnings = Json::array();
  for (const Json& link : links)
    if (link.at("warning").get<bool>())
      warnings.push_back(fmt::format(
          "network not as described: the emulated link {} is {:+.0f} % off what the cluster says",
          link.at("link").get<std::string>(), 100 * link.at("off").get<double>()));
  return warnings;
}

Json taken(Json& summary, const char* key, Json otherwise) {
  const auto found = summary.find(key);
  if (found == summary.end()) return otherwise;
  Json value = std::move(*found);
  summary.erase(found);
  return value;
}

}  // namespace

Json make_manifest(const PlannedRun& run, const Outcome& outcome, const Period& period,
                   const Json& links, const Cores& cores) {
  // The processes of a job measure their links themselves and return them in the summary.
  Json summary = outcome.summary;
  const Json found_links = taken(summary, "links", links);
  Json warnings = run.warnings;
  for (const Json& more :
       {taken(summary, "warnings", Json::array()), warnings_of_links(found_links)})
    warnings.insert(warnings.end(), more.begin(), more.end());
  const Version program = version();
  const World& world = run.experiment.world();
  return {{"schema_version", kManifestSchema},
          {"id", run.id},
          {"name", run.experiment.name},
          {"experiment", run.resolved},
          {"sweep", run.coordinates},
          {"inputs", run.inputs},
          {"status", outcome.ok() ? "done" : "failed"},
          {"error", outcome.ok() ? Json() : Json(outcome.error)},
          {"version", program.number},
          {"git", program.git},
          {"versions", program.libraries},
          {"started", period.started},
          {"finished", period.finished},
          {"wall_s", period.wall_s},
          {"machine", describe_machine(cores.here)},
          {"world", world.name},
          {"time_kind", world.simulated ? "simulated" : "wall"},
          {"oversubscribed", !world.simulated && cores.oversubscribed},
          {"links", found_links},
          {"assumed", run.assumed},
          {"warnings", warnings},
          {"algorithm_trigram",
           to_string(run.experiment.algorithm_entry().traits(run.experiment.algorithm).trigram)},
          {"summary", std::move(summary)}};
}

}  // namespace trigram
