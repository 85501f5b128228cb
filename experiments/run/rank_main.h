#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/context.h"
#include "core/machine_model.h"
#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/run/collector.h"
#include "experiments/run/timeline.h"

namespace trigram {

/// The results of a rank at the end of the run.
struct RankResult {
  Counters total;            // over the whole run
  double began_s = 0;        // start of its first step, in seconds of the world's clock
  std::string weights_hash;  // empty if the workload does not learn
  std::size_t batch = 0;
  bool trains = true;  // false for a server that does not train
};

/// State that all ranks of a run share. Everything in it must outlive the run.
struct Shared {
  const Experiment& experiment;
  const WorkloadFactory& workload;
  const Workers& workers;
  const MachineModel* machine;
  bool simulated;
  bool processes;  // ranks are processes: then they do not share this object, but send results to
                   // rank 0
  Collector& collector;
  Timeline& timeline;
  const StoppingRule* stopping;     // null: all steps are made
  std::vector<RankResult> results;  // one per rank; each rank writes its own
  std::span<Counters> arrived;      // MeterOptions::arrived; empty in real time
};

/// The main function of each rank. Creates the rank's workload, optimizer and algorithm on an
/// instrumented Context, trains, and reports every step to the collector. Throws DivergenceError.
void rank_main(const Context& raw, Shared& shared);

}  // namespace trigram
