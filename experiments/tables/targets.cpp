#include "experiments/tables/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/results/reached.h"

namespace trigram {
namespace {

/// The values at `key` of the runs that have one.
std::vector<double> values(const std::vector<Json>& summaries, const char* key) {
  const Json::json_pointer pointer(std::string("/") + key);
  std::vector<double> found;
  for (const Json& s : summaries)
    if (s.contains(pointer) && s[pointer].is_number()) found.push_back(s[pointer].get<double>());
  return found;
}

}  // namespace

std::string reached_by_some(const std::vector<Json>& summaries, const char* key, const char* from,
                            const FormatNumber& format) {
  const std::vector<double> ends = values(summaries, key);
  if (ends.empty() || ends.size() == summaries.size()) return "";
  const std::vector<double> begins = from ? values(summaries, from) : ends;
  const double least = begins.size() < ends.size() ? 0 : *std::ranges::min_element(begins);
  const double most = *std::ranges::max_element(ends);
  const std::string range = from                            ? Reached{least, most}.span()
                            : format(least) == format(most) ? format(most)
                                                            : format(least) + "–" + format(most);
  return fmt::format("{} with {} of {} seeds", range, ends.size(), summaries.size());
}

std::string target_legend(const std::vector<Json>& summaries) {
  const Json::json_pointer time("/target/time_s");
  const bool never = std::ranges::any_of(
      summaries, [&time](const Json& s) { return s.contains(time) && s[time].is_null(); });
  if (!never) return "";
  if (values(summaries, "target/time_s").empty())
    return "- to target: no evaluation is as accurate as the target\n";
  return "with some seeds: the others never reach the target, so there is no mean to compare\n";
}

}  // namespace trigram
