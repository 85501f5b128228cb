#include "experiments/job/plan_difference.h"

#include <fmt/format.h>

#include "experiments/text/differences.h"

namespace trigram {
namespace {

std::string difference(const Json& theirs, const Json& first) {
  for (const char* what : {"name", "runs"})
    if (theirs.at(what) != first.at(what))
      return fmt::format("{} is {} there, {} on rank 0", what, theirs.at(what).dump(),
                         first.at(what).dump());
  if (theirs.at("id") == first.at("id")) return "a later run is another";
  const std::string fields = fields_apart(theirs.at("run"), first.at("run"));
  // A run's id depends on its fields and on the content of its input files.
  return fields.empty() ? "an input file has another content there than on rank 0" : fields;
}

}  // namespace

std::string describe_plan(const Plan& plan, std::size_t index) {
  Json description = {{"name", plan.name}, {"runs", plan.runs.size()}, {"id", ""}, {"run", {}}};
  if (index < plan.runs.size()) {
    const PlannedRun& run = plan.runs[index];
    description["id"] = run.id;
    description["run"] = run.resolved;
    // The description affects neither results nor the run's id.
    description["run"].erase("description");
  }
  return description.dump();
}

std::string plan_difference(const std::vector<std::string>& statements,
                            const std::vector<std::string>& descriptions) {
  const Json first = Json::parse(descriptions.front());
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < descriptions.size(); ++rank)
    texts.push_back(statements[rank] == statements[0]
                        ? ""
                        : difference(Json::parse(descriptions[rank]), first));
  return by_ranks(texts);
}

}  // namespace trigram
