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

Json link_warnings(const Json& links) {
  Json warnings = Json::array();
  for (const Json& link : links)
    if (link.at("warning").get<bool>())
      warnings.push_back(fmt::format(
          "network not as described: the emulated link {} is {:+.0f} % off what the cluster says",
          link.at("link").get<std::string>(), 100 * link.at("off").get<double>()));
  return warnings;
}

/// Removes `key` from the summary. Returns its value, or `missing_value` if there is none.
Json take_or(Json& summary, const char* key, Json missing_value) {
  const auto found = summary.find(key);
  if (found == summary.end()) return missing_value;
  Json value = std::move(*found);
  summary.erase(found);
  return value;
}

}  // namespace

Json make_manifest(const PlannedRun& run, const Outcome& outcome, const Period& period,
                   const Json& links, const Cores& cores) {
  // If the run was a job of several processes, they measured the links themselves; those
  // measurements are in the summary and are used instead of `links`.
  Json summary = outcome.summary;
  const Json all_links = take_or(summary, "links", links);
  Json warnings = run.warnings;
  for (const Json& added : {take_or(summary, "warnings", Json::array()), link_warnings(all_links)})
    warnings.insert(warnings.end(), added.begin(), added.end());
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
          {"machine", describe_machine(cores.count)},
          {"world", world.name},
          {"time_kind", world.simulated ? "simulated" : "wall"},
          {"oversubscribed", !world.simulated && cores.oversubscribed},
          {"links", all_links},
          {"assumed", run.assumed},
          {"warnings", warnings},
          {"algorithm_trigram",
           to_string(run.experiment.algorithm_entry().traits(run.experiment.algorithm).trigram)},
          {"summary", std::move(summary)}};
}

std::string why_not_compared(const Json& manifest, Compared compared) {
  // A shortfall of the rates alone leaves times to an accuracy or a loss comparable.
  const Json shortfall = manifest.at("summary").value("shortfall", Json());
  if (shortfall.is_null() ||
      (compared == Compared::time_to_target && shortfall.at("of") == "rates"))
    return "";
  return shortfall.at("why");
}

}  // namespace trigram
