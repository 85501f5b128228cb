#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/tune_options.h"

namespace trigram {

/// A point with the cost that its runs had.
struct TriedPoint {
  Json point;                          // {"/json/pointer": value}
  std::optional<double> value = {};    // empty: invalid, see `why`
  double least = 0;                    // the cost lies between this and `value` (ObjectiveValue)
  std::vector<double> values = {};     // of the runs of the seeds; the cost is their mean
  std::vector<std::string> runs = {};  // ids
  std::string why = {};
  /// The index of the first point that is the same experiment, for example because they differ only
  /// in an option without effect.
  std::optional<std::size_t> same_as = {};
};

/// The points that a search has tried, in their order. The record is stored as tuning.json beside
/// the runs.
struct TuningRecord {
  Json options;           // the object "tune", with all defaults
  std::size_t batch = 1;  // points that are proposed together
  std::vector<TriedPoint> tried = {};
  /// An interval of 95 % of the best point's cost, and what it was computed from.
  std::optional<std::pair<double, double>> interval = {};
  std::string interval_from = {};

  /// Appends a point and finds whether it is the same experiment as an earlier one.
  void add(TriedPoint point, TuneMethod method);
  /// The number of points that count as evaluations: all but those that are the same experiment as
  /// an earlier one. BAGUA's search counts those, too, because its service measures them again.
  std::size_t evaluations() const { return evaluations_; }
  /// The index of the least cost; empty if no point has one.
  std::optional<std::size_t> best() const;
  /// Sets `interval`: from the values of several seeds, by Student's distribution, or else from the
  /// process that is fitted to all costs.
  void find_interval(const TuneOptions& options, const Tuner& tuner);
  Json to_json(const Objective& objective) const;

 private:
  std::size_t evaluations_ = 0;
};

/// The batch of an earlier search with the same options, whose record is in `folder`; empty if
/// there is none. With another batch, the proposals would differ, and the runs would be made in
/// vain.
std::optional<std::size_t> batch_of_record(const std::filesystem::path& folder,
                                           const Json& options);

/// A table of all points, the best first, with the reasons of invalid points below it, and the best
/// point with its interval.
std::string tuning_table(const TuningRecord& record, const TuneOptions& options);

}  // namespace trigram
