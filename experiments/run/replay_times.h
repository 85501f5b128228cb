#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"

namespace trigram {

/// How long a tensor's layer takes in a profile, and how long it took here; FLOPs for the batch.
struct ReplayedLayer {
  std::string tensor;
  double numel = 0;
  struct Pass {
    double flops = 0, profile_s = 0, measured_s = 0;
  } forward, backward;
};

/// Replays each layer by itself, without communication, on all ranks of the experiment's world at
/// the same time: once to warm up, then `steps` times, of which the medians are rank 0's. Every
/// layer waits for the one before, so that the sum can be more than a training step computes.
/// Collective, where ranks are processes; empty on others than rank 0. Throws ConfigError unless
/// the workload is a replay.
std::vector<ReplayedLayer> replay_layers(const Experiment& experiment,
                                         const WorkloadFactory& workload, long steps);

}  // namespace trigram
