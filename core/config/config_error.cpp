#include "core/config/config_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace trigram {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// For names of which only a part was typed, such as "fashion" or "async".
const std::string* find_containing(std::string_view part, std::span<const std::string> candidates) {
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const auto& candidate) {
    return candidate.find(part) != std::string::npos;
  });
  return found == candidates.end() ? nullptr : &*found;
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) best = &candidate, best_distance = distance;
  }
  if (!best && name.size() > 2) best = find_containing(name, candidates);
  return best ? fmt::format("; did you mean \"{}\"?", *best) : "";
}

}  // namespace trigram
