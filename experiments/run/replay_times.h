#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// The time that a tensor's layer takes in a profile, and the time that was measured on this
/// machine. FLOPs are per batch.
struct ReplayedLayer {
  std::string tensor;
  double numel = 0;
  struct Pass {
    double flops = 0, profile_s = 0, measured_s = 0;
  } forward, backward;
};

/// Replays each layer alone, without communication, on all ranks of the experiment's world at the
/// same time: once as warm-up, then `steps` times. Returns the medians of rank 0. Each layer waits
/// for the layer before it, so the sum can exceed the computation time of a training step. If ranks
/// are processes, the call is collective, and the result is empty on ranks other than 0. Throws
/// ConfigError unless the workload is a replay.
std::vector<ReplayedLayer> replay_layers(const Experiment& experiment,
                                         const WorkloadFactory& workload, long steps);

}  // namespace trigram
