#include "experiments/cli/plan_difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace trigram {
namespace {

constexpr std::size_t kMostFields = 3, kMostGroups = 4;

std::string value_at(const Json& flat, const std::string& pointer) {
  return flat.contains(pointer) ? flat.at(pointer).dump() : "absent";
}

/// Of two resolved experiments: "/steps is 5 there, 4 on rank 0".
std::string fields_apart(const Json& theirs, const Json& first) {
  const Json there = theirs.flatten(), here = first.flatten();
  std::set<std::string> pointers;
  for (const Json* flat : {&there, &here})
    for (const auto& [pointer, value] : flat->items()) pointers.insert(pointer);
  std::vector<std::string> fields;
  for (const std::string& pointer : pointers) {
    std::string a = value_at(there, pointer), b = value_at(here, pointer);
    if (a == b) continue;
    if (fields.size() == kMostFields) {
      fields.push_back("...");
      break;
    }
    fields.push_back(fmt::format("{} is {} there, {} on rank 0", pointer, a, b));
  }
  // A run is told from others by its fields and by what its input files hold.
  return fields.empty() ? "an input file has another content there than on rank 0"
                        : fmt::format("{}", fmt::join(fields, ", "));
}

std::string difference(const Json& theirs, const Json& first) {
  for (const char* what : {"name", "runs"})
    if (theirs.at(what) != first.at(what))
      return fmt::format("{} is {} there, {} on rank 0", what, theirs.at(what).dump(),
                         first.at(what).dump());
  if (theirs.at("id") == first.at("id")) return "a later run is another";
  return fields_apart(theirs.at("run"), first.at("run"));
}

}  // namespace

std::string describe_plan(const Plan& plan, std::size_t index) {
  Json description = {{"name", plan.name}, {"runs", plan.runs.size()}, {"id", ""}, {"run", {}}};
  if (index < plan.runs.size()) {
    const PlannedRun& run = plan.runs[index];
    description["id"] = run.id;
    description["run"] = run.resolved;
    // Decides no result, nor which run it is.
    description["run"].erase("description");
  }
  return description.dump();
}

std::string plan_difference(const std::vector<std::string>& statements,
                            const std::vector<std::string>& descriptions) {
  const Json first = Json::parse(descriptions.front());
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;  // alike, by their ranks
  for (std::size_t rank = 1; rank < descriptions.size(); ++rank) {
    if (statements[rank] == statements[0]) continue;
    const std::string text = difference(Json::parse(descriptions[rank]), first);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == text; });
    if (group == groups.end()) group = groups.insert(group, {text, {}});
    group->second.push_back(rank);
  }
  std::vector<std::string> texts;
  for (const auto& [text, ranks] : groups)
    if (texts.size() < kMostGroups)
      texts.push_back(fmt::format("rank {}: {}", fmt::join(ranks, " "), text));
  if (groups.size() > kMostGroups) texts.push_back("and others");
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace trigram
