#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/workload.h"

namespace trigram {

/// What the workers' models are worth on held-out data at one step, and how far apart they are.
struct Evaluation {
  double loss = 0;                 // of the mean model
  std::optional<double> accuracy;  // of the mean model; absent where there are no classes
  std::optional<double> worker_accuracy_mean, worker_accuracy_min;
  /// Mean over the workers of the squared Euclidean distance between their weights and the mean.
  double consensus_distance = 0;
};

/// Evaluates the mean of `weights` (one vector per worker) on all held-out data, and, where workers
/// differ, every distinct one of them on its first thousand samples.
Evaluation evaluate(Workload& workload, std::span<const std::vector<float>> weights);

/// Tells apart weights that are not equal to the bit.
std::string weights_hash(std::span<const float> weights);

}  // namespace trigram
