#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/machine_model.h"
#include "experiments/run/checkpoints.h"
#include "experiments/run/heartbeats.h"
#include "experiments/run/rank_main.h"
#include "experiments/run/run.h"
#include "experiments/run/run_observer.h"
#include "netmodels/planned_membership.h"

namespace trigram {

/// The ranks of one experiment in a world: what they share, and what collects their results.
class JobRun {
 public:
  /// All arguments but `place` and `span` must outlive the object. `runtime` is the world in which
  /// the ranks run.
  JobRun(const Experiment& e, const WorkloadFactory& workload, Runtime& runtime,
         const RunOutput& output, const CheckpointPlace& place, const SimulatedSpan& span);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  const Layout& layout() const { return layout_; }
  /// Must be called immediately before the world is launched.
  void begin() { launched_ = true; }
  /// The main function of each rank.
  void rank_main(const Context& raw);
  /// Steps that all ranks have ended.
  long steps() const { return observer_.steps(); }
  /// Writes the timeline, and returns the summary without "links". `wall_s` is the time that the
  /// launch took.
  Json to_json(double wall_s);

 private:
  std::vector<double> credits() const;  // the fill of links, while they exist
  void make_collector(const WorkloadFactory& workload);

  const Experiment& e_;
  const RunOutput& output_;
  Runtime& runtime_;
  const Layout layout_;
  const Workers workers_;
  bool launched_ = false;
  RunObserver observer_;
  std::optional<ArrivedTraffic> arrived_;  // in simulated time
  std::optional<Checkpoints> checkpoints_;
  std::optional<Collector> collector_;
  Timeline timeline_;
  const std::unique_ptr<MachineModel> machine_;
  std::optional<PlannedMembership> membership_;
  std::optional<HeartbeatRun> heartbeats_;
  std::optional<SharedState> shared_;
};

}  // namespace trigram
