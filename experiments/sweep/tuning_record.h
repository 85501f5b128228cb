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
  std::vector<double> values = {};     // of the runs of the seeds; the cost is their mean
  std::vector<std::string> runs = {};  // ids
  std::string why = {};
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

  /// The index of the least cost; empty if no point has one.
  std::optional<std::size_t> best() const;
  /// Sets `interval`: from the values of several seeds, by Student's distribution, or else from the
  /// process that is fitted to all costs.
  void find_interval(const TuneOptions& options, const Tuner& tuner);
  Json to_json(const Objective& objective) const;
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
