#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/config/plan.h"
#include "experiments/config/tune_options.h"
#include "experiments/sweep/objective_value.h"
#include "experiments/sweep/sweep_runner.h"
#include "experiments/sweep/tuning_record.h"
#include "experiments/text/line_printer.h"

namespace trigram {

/// A sweep whose points are proposed one batch after the other by an optimiser (`Tuner`). Each
/// point is a run, or a run for each seed of a list of seeds; the cost of a point is their mean.
/// The runs are stored like those of any sweep. If it is interrupted, the next one with the same
/// options reads their results and continues, because the proposals are the same.
class TunedSweep {
 public:
  struct Options {
    SweepRunner::Options runner;
    /// A command, such as "mpirun -n 4", under which each point is run by a job of its own, for
    /// worlds of processes; empty: this process makes the runs.
    std::string launcher;
  };
  /// Reads the configuration, and plans some points of the space, so that a pointer that does not
  /// exist, or an end of a range that no experiment may have, is found. Throws ConfigError.
  TunedSweep(std::filesystem::path config, std::vector<std::string> settings, Options options,
             bool quiet);

  /// Evaluates all points. A point that is the same experiment as an earlier one takes its cost,
  /// and no evaluation. Writes the record tuning.json after each batch. Returns an exit code:
  /// kInterrupted, kRunFailed if no point has a cost or stale runs were in the way, or kOk. Throws
  /// ConfigError if the runs of the first batch lack a key that the objective weights.
  int run();

  /// Makes the runs of these points and returns their costs. The optimiser is not told. Throws
  /// Stopped.
  std::vector<TriedPoint> evaluate(const std::vector<Json>& points);

  /// Thrown if the runs were interrupted, or stale runs were in the way.
  struct Stopped {
    int code;
  };

  const TuneOptions& options() const { return options_; }
  const TuningRecord& record() const { return record_; }
  std::filesystem::path folder() const { return run_options_.runner.output / name_; }

 private:
  void check_space();
  void check_example() const;
  bool varies_experiment() const;
  void check_first_costs() const;
  /// The runs of a point, and the row of the sweep that makes them.
  struct PointPlan {
    Plan plan;
    Json row;
  };
  PointPlan plan_of(Json point) const;
  void launch(const PointPlan& point, const SweepRunner& runner) const;
  std::optional<ConfigError> mistake_of(const Json& point);
  std::size_t batch() const;
  TriedPoint collect(const Json& point, const Plan& plan, const SweepRunner& runner);
  void show_progress(const TriedPoint& tried);
  void show_best();

  const std::filesystem::path config_;
  std::vector<std::string> settings_;
  const Options run_options_;
  const bool quiet_;
  const TuneOptions options_;
  std::string name_;
  std::optional<PlannedRun> example_;  // a run of some point
  std::set<std::string> made_;         // ids of the runs that were made or read
  Tuner tuner_;
  TuningRecord record_;
  std::set<std::string> warned_;
  SamplesPerStep samples_;
  bool warned_of_samples_ = false;
  LinePrinter printer_;
};

}  // namespace trigram
