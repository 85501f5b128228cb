#pragma once

#include <string>

#include "core/config/kinds.h"

namespace trigram {

/// A value of a sweep in a word: a component by its name, with its mode where it has one
/// ("decentralized/ring"); a topology by its kind and its short options; a text without quotes.
std::string label_of(const Json& value);

/// "algorithm=bytegrad, cluster/inter/bandwidth=10Gbps", or "one run" without a sweep.
std::string describe(const Json& coordinates);

}  // namespace trigram
