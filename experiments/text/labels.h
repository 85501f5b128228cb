#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// A short label of a swept value: a component's name, with its mode if it has one
/// ("decentralized/ring"); a topology's kind and its short options; the name of a description file
/// without folder and extension ("pytorch_ddp"); any other text without quotes.
std::string label_of(const Json& value);

/// The name of a run's algorithm in tables. If the sweep gives the algorithm as a string, e.g. a
/// file that describes a system, that string is the label.
std::string algorithm_label(const Json& manifest);

/// "algorithm=bytegrad hierarchical=true, cluster/inter/bandwidth=10Gbps", or "one run" if there is
/// no sweep.
std::string describe(const Json& coordinates);

}  // namespace trigram
