#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/checkpoint/checkpoint_folder.h"

namespace trigram {

/// The state with which every rank of a run continues the run of another number of ranks.
struct ReformedState {
  SavedState state;
  std::vector<std::string> left_out;  // groups of the algorithm's state that begin anew
};

/// Forms it from a checkpoint, in which only `workers` have trained:
///
///   - weights, and tensors of the optimizer: the mean over the workers, in double precision, which
///     are the values themselves if all workers have the same;
///   - numbers of the optimizer, and the model's buffers: those of the first worker;
///   - the algorithm's state: that of the first worker, if all workers have the same. State whose
///     names agree up to the last slash is kept or left out together;
///   - "batches", the number of mini-batches that a worker has taken: such that `new_workers`
///     workers together continue at about the same sample, rounded down.
ReformedState reform(const CheckpointFolder& folder, long step, std::span<const int> workers,
                     int new_workers);

}  // namespace trigram
