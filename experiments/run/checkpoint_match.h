#pragma once

#include <filesystem>

#include "experiments/checkpoint/checkpoint_folder.h"
#include "experiments/config/experiment.h"

// Whether a checkpoint is that of an experiment.

namespace trigram {

/// The experiment without what may differ when a run is continued.
Json description_of(const Experiment& experiment);

/// Throws ConfigError at "--resume" if a checkpoint is that of another experiment.
void check_same_run(const Experiment& experiment, const CheckpointFolder& folder);
/// Throws ConfigError at "--resume-from" if `folder` has no checkpoint with which the experiment,
/// whose cluster and number of steps may be others, can go on.
void check_same_training(const Experiment& experiment, const std::filesystem::path& folder);

}  // namespace trigram
