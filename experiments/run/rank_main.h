#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/machine_model.h"
#include "core/workers.h"
#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/run/collector.h"
#include "experiments/run/timeline.h"

namespace trigram {

/// What is left of a rank when it has ended.
struct RankResult {
  Counters total;            // all that it has done
  double began_s = 0;        // its first step, by the world's clock
  std::string weights_hash;  // empty for phantoms
  std::size_t batch = 0;
  bool trains = true;  // false: only serves
};

/// What all ranks of a run share. All parts outlive the run.
struct Shared {
  const Experiment& experiment;
  const WorkloadFactory& workload;
  const Workers& workers;
  const MachineModel* machine;
  bool simulated;
  bool processes;  // ranks do not share this, but tell rank 0 when they have trained
  Collector& collector;
  Timeline& timeline;
  const StoppingRule* stopping;     // null where all steps are made
  std::vector<RankResult> results;  // one per rank; each writes its own
  std::span<Counters> arrived;      // MeterOptions::arrived; empty where time is real
};

/// The main function of each rank: makes its workload, optimizer and algorithm around an
/// instrumented Context, trains, and reports every step to the collector. Throws DivergenceError.
void rank_main(const Context& raw, Shared& shared);

}  // namespace trigram
