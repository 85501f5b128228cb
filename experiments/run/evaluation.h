#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/workload.h"

namespace trigram {

/// Quality of the workers' models on held-out data after one step, and their distance from each
/// other.
struct Evaluation {
  double loss = 0;                 // of the mean model
  std::optional<double> accuracy;  // of the mean model; empty if the workload has no classes
  /// Of the workers' own models.
  double worker_loss_mean = 0;
  std::optional<double> worker_accuracy_mean, worker_accuracy_min;
  /// Squared Euclidean distance of a worker's weights from the mean weights, averaged over workers.
  double consensus_distance = 0;
};

/// Evaluates the mean of `weights` (one vector per worker) on all held-out data. If the vectors
/// differ, also evaluates each distinct vector on the first 1000 held-out samples; this gives the
/// losses and accuracies of the workers.
Evaluation evaluate(Workload& workload, std::span<const std::vector<float>> weights);

/// SHA-256 of the weights. It differs if the weights differ in any bit.
std::string weights_hash(std::span<const float> weights);

}  // namespace trigram
