#pragma once

#include <cstdint>
#include <optional>

#include "core/config/fields.h"

namespace trigram {

struct Experiment;
class WorkloadFactory;

/// The object "autotune" of an experiment: bucket sizes are tried while the run trains.
struct AutotuneOptions {
  std::int64_t every = 10;        // steps in buckets of one size, before its step time is known
  std::int64_t evaluations = 12;  // sizes to try, including the configured one
  std::size_t smallest = std::size_t{64} << 10, largest = std::size_t{256} << 20;
};

/// false, true or an object.
OptionType<std::optional<AutotuneOptions>> autotune_options();

/// Throws ConfigError if the experiment has `autotune` and its buckets cannot change during a run,
/// or if a change would affect more than times. All other checks of the experiment have passed.
void check_autotune(const Experiment& experiment);

}  // namespace trigram
