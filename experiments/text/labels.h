#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// A short label of a swept value. For a component it is its name, with its mode if it has one
/// ("decentralized/ring"); for a topology, its kind and its short options; for a description file,
/// its name without folder and extension ("pytorch_ddp"); for any other text, the text without
/// quotes.
std::string label_of(const Json& value);

/// The name of a run's algorithm in tables. If the sweep gives the algorithm as a string, e.g. a
/// file that describes a system, that string is the label.
std::string algorithm_label(const Json& manifest);

/// Sweep coordinates as text: "algorithm=bytegrad hierarchical=true,
/// cluster/inter/bandwidth=10Gbps", or "one run" if there is no sweep.
std::string describe(const Json& coordinates);

}  // namespace trigram
