#include "experiments/tables/caveats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "experiments/text/labels.h"

namespace trigram {
namespace {

constexpr std::size_t kMostNamed = 3;

using Runs = std::vector<const Json*>;  // their manifests

bool says(const Json& manifest, const char* key, const Json& sentence) {
  const auto sentences = manifest.find(key);
  return sentences != manifest.end() &&
         std::find(sentences->begin(), sentences->end(), sentence) != sentences->end();
}

bool is_at(const Json& manifest, const Json& coordinates) {
  for (const auto& [pointer, value] : coordinates.items())
    if (manifest["sweep"].value(pointer, Json()) != value) return false;
  return true;
}

/// The coordinates in which all of `some` agree.
Json common(const Runs& some) {
  Json shared = (*some.front())["sweep"];
  for (const Json* other : some)
    for (const auto& [pointer, value] : (*some.front())["sweep"].items())
      if ((*other)["sweep"].value(pointer, Json()) != value) shared.erase(pointer);
  return shared;
}

/// The swept values that identify `some` among all runs: as few of their common coordinates as
/// suffice, or else the points of the first few of them. Empty if `some` are all runs.
std::string told_apart(const Runs& some, const std::vector<Json>& all) {
  if (some.size() == all.size()) return "";
  const Json shared = common(some);
  const auto alone = [&](const Json& coordinates) {
    return std::count_if(all.begin(), all.end(),
                         [&](const Json& m) { return is_at(m, coordinates); }) == std::ssize(some);
  };
  if (alone(shared)) {
    Json place = shared;
    for (const auto& [pointer, value] : shared.items()) {
      Json fewer = place;
      fewer.erase(pointer);
      if (alone(fewer)) place = fewer;
    }
    return describe(place);
  }
  std::set<std::string> places;
  for (const Json* m : some) {
    Json without_seed = (*m)["sweep"];
    without_seed.erase("/seed");
    places.insert(describe(without_seed));
  }
  const std::size_t named = std::min(places.size(), kMostNamed);
  std::string text =
      fmt::format("{}", fmt::join(places.begin(), std::next(places.begin(), named), "; "));
  if (places.size() > named) text += fmt::format(" and {} more", places.size() - named);
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
        Runs some;
        for (const Json& other : manifests)
          if (says(other, key, sentence)) some.push_back(&other);
        const std::string whose = told_apart(some, manifests);
        text += fmt::format("{}: {}{}\n", title, sentence.get<std::string>(),
                            whose.empty() ? "" : fmt::format(" [{}]", whose));
      }
  }
  return text;
}

}  // namespace trigram
