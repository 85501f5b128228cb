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
  std::optional<double> read_Bps;   // the same for reading, when all workers restart
  /// Steps from one copy of the state in the memory of the next node to the next copy; 0: none.
  std::int64_t memory_every = 0;

  bool keeps_copies() const { return memory_every > 0; }
  /// Steps from one checkpoint, on storage or in memory, to the next.
  std::int64_t interval() const { return keeps_copies() ? memory_every : every; }
};

/// null or an object.
OptionType<std::optional<CheckpointOptions>> checkpoint_options();

/// Throws ConfigError if the experiment has `checkpoint` and cannot be trained in parts. All other
/// checks of the experiment have passed.
void check_checkpoint(const Experiment& experiment);

}  // namespace trigram
