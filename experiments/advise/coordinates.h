#pragma once

#include <string>

#include "core/json.h"

namespace trigram {

/// The last part of the pointer to a workload's computation time.
inline constexpr const char* kStepTime = "/step_time";

/// A setting that adds an axis with one value to the sweep, so that the value becomes one of the
/// run's coordinates.
std::string as_axis(const std::string& pointer, const Json& value);

/// The coordinates without the pointers that `advise` itself sets: network, computation time, steps
/// and evaluations.
Json candidate_coordinates(const Json& coordinates);

/// Throws ConfigError if candidates differ in more than the algorithm and the optimizer.
void check_coordinates(const Json& coordinates);

/// A label of the options in a candidate's coordinates, without the name of its algorithm.
std::string settings_label(const Json& coordinates);

/// The name of the algorithm in a candidate's coordinates; empty if they have none.
std::string algorithm_in(const Json& coordinates);

}  // namespace trigram
