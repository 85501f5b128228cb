#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// A short label of a swept value: for a component, its name, with its mode if it has one
/// ("decentralized/ring"); for a topology, its kind and its short options; for a description file,
/// its name without folder and extension ("pytorch_ddp"); for any other text, the text without
/// quotes.
std::string label_of(const Json& value);

/// The options of a component in a sweep: "codec=sign hierarchical=true". The mode is left out,
/// because label_of shows it with the name. Empty for a value that is not a component with options.
std::string options_label(const Json& value);

/// The name of a run's algorithm in tables. If the sweep gives the algorithm as a string, such as
/// the path of a file that describes a system, the name is the label of that string.
std::string algorithm_label(const Json& manifest);

/// Sweep coordinates as text: "algorithm=bytegrad hierarchical=true,
/// cluster/inter/bandwidth=10Gbps", or "one run" if there is no sweep.
std::string describe(const Json& sweep_coordinates);

}  // namespace trigram
