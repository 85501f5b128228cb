#include "experiments/job/verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/config/config_error.h"
#include "core/printable.h"

namespace trigram {
namespace {

constexpr std::size_t kMostGroups = 4;

/// The different texts with their ranks; ranks with an empty text are left out.
std::string by_ranks(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;  // each text and its ranks
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    auto group = std::ranges::find(groups, texts[rank], [](const auto& g) { return g.first; });
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

/// An error whose `what()` has exactly these lines, which begin with the place of the mistake.
ConfigError error_with(const std::string& lines) {
  std::vector<Mistake> mistakes;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);)
    mistakes.push_back({"", "", Mistake::Kind::wrong, line});
  return ConfigError(std::move(mistakes));
}

}  // namespace

void check_verdicts(const std::vector<std::string>& verdicts) {
  const auto fails = [](const std::string& verdict) { return !verdict.empty(); };
  if (std::any_of(verdicts.begin() + 1, verdicts.end(), fails))
    throw error_with(by_ranks(verdicts));
  if (fails(verdicts.front())) throw error_with(verdicts.front());
}

std::string compare_arguments(const std::vector<std::string>& own,
                              const std::vector<std::string>& on_rank_0) {
  if (own == on_rank_0) return "";
  return fmt::format(
      "has the arguments \"{}\", and rank 0 has \"{}\"; expected the same on all ranks",
      printable(fmt::format("{}", fmt::join(own, " "))),
      printable(fmt::format("{}", fmt::join(on_rank_0, " "))));
}

}  // namespace trigram
