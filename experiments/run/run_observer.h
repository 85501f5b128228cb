#pragma once

#include <memory>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/run/drawn_steps.h"
#include "experiments/run/network_changes.h"
#include "experiments/run/rank_main.h"
#include "experiments/run/steady_steps.h"
#include "experiments/run/step_record.h"
#include "experiments/run/summary.h"
#include "experiments/run/target_quality.h"

namespace trigram {

/// Observes the steps of a run, decides when it ends, and makes its summary.
class RunObserver {
 public:
  /// `interrupted`: earlier parts of the job have failed. `credits` is World::link_credits of the
  /// run's world.
  RunObserver(const Experiment& e, const WorkloadFactory& workload, bool interrupted,
              const NetworkChanges::Credits& credits);

  /// Null if the run makes all its steps.
  StoppingRule* stopping() const {
    return steady_ ? static_cast<StoppingRule*>(steady_.get()) : target_.get();
  }
  void add(const StepRecord& record);
  /// Steps that all ranks have ended.
  long steps() const { return summary_.all().steps; }
  /// The summary without "world" and "links". `ranks` are the results of the ranks at the end of
  /// the run, which took `wall_s` seconds of real time.
  Json to_json(const std::vector<RankResult>& ranks, double wall_s);

 private:
  const Experiment& e_;
  const WorkloadFactory& workload_;
  const ExchangeSchedule schedule_;
  const std::unique_ptr<SteadySteps> steady_;
  const std::unique_ptr<TargetQuality> target_;
  Summary summary_;
  DrawnSteps drawn_;
  NetworkChanges changes_;
  std::vector<Counters> counted_;  // traffic that arrived during the steps that count
};

}  // namespace trigram
