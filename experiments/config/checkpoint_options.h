#pragma once

#include <cstdint>
#include <optional>

#include "core/config/fields.h"

namespace trigram {

struct Experiment;

/// The object "checkpoint" of an experiment: the run writes its state from time to time, so that
/// `trigram run --resume` can continue it (docs/checkpoints.md).
struct CheckpointOptions {
  std::int64_t every = 1000;        // steps from one checkpoint to the next
  std::int64_t keep = 2;            // number of checkpoints that are kept, the latest ones
  std::optional<double> write_Bps;  // simulated speed of writing, by rank; empty: takes no time
};

/// null or an object.
OptionType<std::optional<CheckpointOptions>> checkpoint_options();

/// Throws ConfigError if the experiment has `checkpoint` and cannot be trained in parts. All other
/// checks of the experiment have passed.
void check_checkpoint(const Experiment& experiment);

}  // namespace trigram
