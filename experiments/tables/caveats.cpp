#include "experiments/tables/caveats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "experiments/text/labels.h"

namespace trigram {
namespace {

constexpr std::size_t kMostNamed = 3;

using Manifests = std::vector<const Json*>;

bool has_sentence(const Json& manifest, const char* key, const Json& sentence) {
  const auto sentences = manifest.find(key);
  return sentences != manifest.end() && std::ranges::find(*sentences, sentence) != sentences->end();
}

/// True if the run's sweep coordinates include these coordinates.
bool is_at(const Json& manifest, const Json& coordinates) {
  for (const auto& [pointer, value] : coordinates.items())
    if (manifest["sweep"].value(pointer, Json()) != value) return false;
  return true;
}

/// The coordinates that all of these runs share.
Json common_coordinates(const Manifests& runs) {
  const Json& first = (*runs.front())["sweep"];
  Json shared = first;
  for (const Json* run : runs)
    for (const auto& [pointer, value] : first.items())
      if ((*run)["sweep"].value(pointer, Json()) != value) shared.erase(pointer);
  return shared;
}

/// The swept values that identify the runs `some` among all runs: as few of their common
/// coordinates as suffice, or else the coordinates of the first few of them. Empty if `some` are
/// all runs.
std::string identifying_values(const Manifests& some, const std::vector<Json>& all) {
  if (some.size() == all.size()) return "";
  const Json shared = common_coordinates(some);
  const auto identify = [&](const Json& coordinates) {
    return std::ranges::count_if(all, [&](const Json& m) { return is_at(m, coordinates); }) ==
           std::ssize(some);
  };
  if (identify(shared)) {
    Json needed = shared;
    for (const auto& [pointer, value] : shared.items()) {
      Json fewer = needed;
      fewer.erase(pointer);
      if (identify(fewer)) needed = fewer;
    }
    return describe(needed);
  }
  std::set<std::string> points;
  for (const Json* m : some) {
    Json without_seed = (*m)["sweep"];
    without_seed.erase("/seed");
    points.insert(describe(without_seed));
  }
  const std::size_t named = std::min(points.size(), kMostNamed);
  std::string text =
      fmt::format("{}", fmt::join(points.begin(), std::next(points.begin(), named), "; "));
  if (points.size() > named) text += fmt::format(" and {} more", points.size() - named);
  return text;
}

}  // namespace

std::string caveats(const std::vector<Json>& manifests) {
  std::string text;
  for (const auto& [key, title] : {std::pair{"warnings", "warning"}, {"assumed", "assumed"}}) {
    std::set<std::string> sentences;
    for (const Json& m : manifests)
      for (const Json& sentence : m.value(key, Json::array())) {
        if (!sentences.insert(sentence.get<std::string>()).second) continue;
        Manifests affected;
        for (const Json& run : manifests)
          if (has_sentence(run, key, sentence)) affected.push_back(&run);
        const std::string values = identifying_values(affected, manifests);
        text += fmt::format("{}: {}{}\n", title, sentence.get<std::string>(),
                            values.empty() ? "" : fmt::format(" [{}]", values));
      }
  }
  return text;
}

}  // namespace trigram
