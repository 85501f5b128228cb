#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/traces/profiler_events.h"

namespace trigram {

/// The argument of an event that holds the shapes of its inputs.
inline constexpr const char* kShapes = "Input Dims";

/// A gradient of a parameter, when backward has completed it.
struct Gradient {
  std::size_t numel = 0, dimensions = 0;
  std::string type = {};
  double complete_us = 0;         // on the CPU
  std::optional<long> node = {};  // the sequence number of the backward node that produced it
};

/// The passes of one step: their begin, end and thread.
struct Passes {
  ProfilerEvent forward, whole;     // `whole` ends with the backward pass
  std::vector<Gradient> gradients;  // in the order of completion
};

/// Throws ConfigError unless the step has one forward and one backward pass, and shapes of
/// gradients.
Passes passes_of(const ProfilerStep& step);

}  // namespace trigram
