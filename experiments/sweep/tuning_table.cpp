// The table of what a search has tried.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/printable.h"
#include "experiments/sweep/objective_value.h"
#include "experiments/sweep/tuning_record.h"
#include "experiments/text/labels.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

/// The indices of the points: the best first, and invalid points last, in the order of trial.
std::vector<std::size_t> by_cost(const TuningRecord& record) {
  std::vector<std::size_t> order(record.tried.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&record](std::size_t i) {
    return record.tried[i].value.value_or(std::numeric_limits<double>::infinity());
  });
  return order;
}

std::string interval_text(const TuningRecord& record, const TuneOptions& options) {
  if (!record.interval) return "";
  const auto text = [&options](double value) { return cost_text(options.objective, value); };
  return fmt::format("; 95 % interval {} to {}, from {}", text(record.interval->first),
                     text(record.interval->second), record.interval_from);
}

/// Names the points that may be as early as the best one, as far as evaluations tell.
std::string ties_text(const TuningRecord& record, const TriedPoint& best) {
  std::vector<std::size_t> ties;
  for (std::size_t i = 0; i < record.tried.size(); ++i) {
    const TriedPoint& other = record.tried[i];
    if (&other != &best && other.value && !other.same_as && other.least < *best.value)
      ties.push_back(i + 1);
  }
  if (ties.empty()) return "";
  return fmt::format("point{} {} may be as early, as far as evaluations of its model tell\n",
                     ties.size() == 1 ? "" : "s", fmt::join(ties, ", "));
}

}  // namespace

std::string tuning_table(const TuningRecord& record, const TuneOptions& options) {
  std::vector<std::vector<std::string>> lines(1);
  for (const SearchDimension& dimension : options.space.dimensions)
    lines[0].push_back(dimension.pointer.substr(1));
  const std::size_t text_columns = lines[0].size();
  lines[0].insert(lines[0].end(), {"evaluation", options.objective.text()});
  std::string notes;
  for (const std::size_t i : by_cost(record)) {
    const TriedPoint& tried = record.tried[i];
    std::vector<std::string>& line = lines.emplace_back();
    for (const SearchDimension& dimension : options.space.dimensions)
      line.push_back(label_of(tried.point.at(dimension.pointer)));
    line.push_back(std::to_string(i + 1));
    line.push_back(tried.value ? cost_text(options.objective, *tried.value) : "invalid");
    if (!tried.value)
      notes += fmt::format("invalid: evaluation {} counts as the worst: it {}\n", i + 1,
                           printable(tried.why.substr(0, tried.why.find('\n'))));
  }
  if (const auto same = std::ranges::count_if(
          record.tried, [](const TriedPoint& tried) { return tried.same_as.has_value(); });
      same > 0)
    notes +=
        fmt::format("{} of {} points {} the same experiment as an earlier one, with its cost\n",
                    same, record.tried.size(), same == 1 ? "is" : "are");
  std::string text = aligned(lines, text_columns) + notes;
  if (!record.best()) return text + "no point has a cost\n";
  const TriedPoint& best = record.tried[*record.best()];
  text += fmt::format("best of {}: {}: {}{}\n", record.tried.size(), describe(best.point),
                      cost_text(options.objective, *best.value), interval_text(record, options));
  return text + (options.objective.target ? ties_text(record, best) : "");
}

}  // namespace trigram
