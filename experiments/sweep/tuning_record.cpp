#include "experiments/sweep/tuning_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/config/json_text.h"
#include "core/files.h"

namespace trigram {
namespace {

/// The quantile 0.975 of Student's distribution, by degrees of freedom from 1 on.
constexpr std::array kStudent = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kNormal = 1.960;

std::pair<double, double> student_interval(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const std::size_t freedom = values.size() - 1;
  const double quantile = freedom <= kStudent.size() ? kStudent[freedom - 1] : kNormal;
  const double half = quantile * std::sqrt(squares / (n - 1) / n);
  return {mean - half, mean + half};
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

void TuningRecord::add(TriedPoint point, TuneMethod method) {
  if (const auto same = std::ranges::find(tried, point.runs, &TriedPoint::runs);
      same != tried.end() && !point.runs.empty())
    point.same_as = same->same_as.value_or(static_cast<std::size_t>(same - tried.begin()));
  if (!point.same_as || method == TuneMethod::bagua) ++evaluations_;
  tried.push_back(std::move(point));
}

std::optional<std::size_t> TuningRecord::best() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < tried.size(); ++i)
    if (tried[i].value && (!best || *tried[i].value < *tried[*best].value)) best = i;
  return best;
}

void TuningRecord::find_interval(const TuneOptions& tuned, const Tuner& tuner) {
  interval.reset();
  if (!best()) return;
  const TriedPoint& winner = tried[*best()];
  if (winner.values.size() > 1) {
    interval = student_interval(winner.values);
    interval_from = fmt::format("Student's t over {} seeds", winner.values.size());
  } else {
    interval = tuner.interval(tuned.space.position_of(winner.point, ""));
    interval_from = "the noise of the Gaussian process fitted to all costs";
  }
}

Json TuningRecord::to_json(const Objective& objective) const {
  Json points = Json::array();
  for (const TriedPoint& t : tried)
    points.push_back({{"point", t.point},
                      {"value", number_or_null(t.value)},
                      {"least", t.value ? Json(t.least) : Json()},
                      {"values", t.values},
                      {"runs", t.runs},
                      {"why", t.why},
                      {"same_as", t.same_as ? Json(*t.same_as) : Json()}});
  Json j = {{"tune", options},
            {"objective", objective.text()},
            {"unit", objective.is_time() ? Json("s") : Json()},
            {"batch", batch},
            {"tried", points},
            {"best", best() ? Json(*best()) : Json()},
            {"interval", nullptr}};
  if (interval)
    j["interval"] = {{"low", interval->first}, {"high", interval->second}, {"from", interval_from}};
  return j;
}

std::optional<std::size_t> batch_of_record(const std::filesystem::path& folder,
                                           const Json& options) {
  const auto path = folder / "tuning.json";
  if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored))
    return std::nullopt;
  const Json record = try_parse_json(read_text_file(path)).value_or(Json());
  if (!record.is_object() || record.value("tune", Json()) != options) return std::nullopt;
  const Json batch = record.value("batch", Json());
  if (!batch.is_number_unsigned() || batch == 0) return std::nullopt;
  return batch.get<std::size_t>();
}

}  // namespace trigram
