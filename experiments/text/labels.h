#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// A value of a sweep in a word: a component by its name, with its mode where it has one
/// ("decentralized/ring"); a topology by its kind and its short options; a file of a description by
/// its name alone, "pytorch_ddp"; another text without quotes.
std::string label_of(const Json& value);

/// What the algorithm of a run is called in tables: a system by the file that its sweep names.
std::string algorithm_label(const Json& manifest);

/// "algorithm=bytegrad hierarchical=true, cluster/inter/bandwidth=10Gbps", or "one run" without a
/// sweep.
std::string describe(const Json& coordinates);

}  // namespace trigram
