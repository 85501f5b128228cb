#include "experiments/text/differences.h"

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

/// The name of a field. A command-line option keeps its name: "--iters" rather than "/--iters".
std::string name_of(const std::string& pointer) {
  return pointer.starts_with("/--") ? pointer.substr(1) : pointer;
}

}  // namespace

std::string fields_apart(const Json& theirs, const Json& on_rank_0) {
  const Json there = theirs.flatten(), here = on_rank_0.flatten();
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
    fields.push_back(fmt::format("{} is {} there, {} on rank 0", name_of(pointer), a, b));
  }
  return fmt::format("{}", fmt::join(fields, ", "));
}

std::string by_ranks(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;  // each text and its ranks
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == texts[rank]; });
    if (group == groups.end()) group = groups.insert(group, {texts[rank], {}});
    group->second.push_back(rank);
  }
  std::vector<std::string> lines;
  for (const auto& [text, ranks] : groups)
    if (lines.size() < kMostGroups)
      lines.push_back(fmt::format("rank {}: {}", fmt::join(ranks, " "), text));
  if (groups.size() > kMostGroups) lines.push_back("and others");
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace trigram
