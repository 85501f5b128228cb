#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/machine_model.h"
#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/run/bucket_tuner.h"
#include "experiments/run/collector.h"
#include "experiments/run/heartbeats.h"
#include "experiments/run/timeline.h"

namespace trigram {

class Checkpoints;

/// The results of a rank at the end of the run.
struct RankResult {
  Counters total;            // over the whole run
  double began_s = 0;        // start of its first step, in seconds of the world's clock
  std::string weights_hash;  // empty if the workload does not learn
  std::size_t batch = 0;
  bool trains = true;  // false for a server that does not train
};

/// A part of a simulated run that ends with a crash or a change of nodes, in seconds of the world's
/// clock.
struct SimulatedSpan {
  bool in_job = false;  // the run may have other parts, so that its timeline shows times of the job
  double begin_s = 0;   // the ranks begin, or continue, not earlier
  double origin_s = 0;  // the times of steps count from here, if begin_s is not 0
  /// The world ends then, with SimulationEnded; empty: when training ends.
  std::optional<double> end_s = {};
  /// The world also ends with the first checkpoint that is written at this time or later.
  std::optional<double> checkpoint_s = {};
  HeartbeatDetector* detector = nullptr;  // if workers restart when one is suspected
  /// Set to the time that it takes to bring back copies in memory; null: there are none.
  double* brought_back_s = nullptr;
};

/// State that all ranks of a run share. The objects to which it refers must outlive the run.
struct SharedState {
  const Experiment& experiment;
  const WorkloadFactory& workload;
  const Workers& workers;
  const MachineModel* machine;
  bool simulated;
  /// True if ranks are processes. Each process then has its own object, and ranks send their
  /// results to rank 0.
  bool processes;
  Collector& collector;
  Timeline& timeline;
  const StoppingRule* stopping;           // null: all steps are made
  std::vector<RankResult> results;        // one per rank; each rank writes its own
  ArrivedTraffic* arrived;                // MeterOptions::arrived; null in real time
  std::optional<BucketTuner> tuner = {};  // of rank 0, if buckets are tuned
  Checkpoints* checkpoints = nullptr;     // null: none are written
  SimulatedSpan span = {};
  Membership* membership = nullptr;    // null unless workers carry on without those that fail
  HeartbeatRun* heartbeats = nullptr;  // null unless workers send heartbeats
  EgressTariff tariff = {};            // MeterOptions::tariff
};

/// How the error of a run begins whose training has diverged: it would do so again.
inline constexpr const char* kDiverged = "training diverged";

/// The main function of each rank. Creates the rank's workload, optimizer and algorithm on an
/// instrumented Context, trains, and reports every step to the collector. Throws
/// std::runtime_error if training diverges, that is, if a loss is NaN or infinite.
void rank_main(const Context& raw, SharedState& shared);

}  // namespace trigram
