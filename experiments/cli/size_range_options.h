#pragma once

#include <string>

#include "experiments/bench/measure.h"

namespace trigram {

/// The value of an option in whole bytes. Throws ConfigError if it is less than 1 B.
std::size_t bytes_in(const std::string& option, const std::string& text);

/// Throws ConfigError unless the ladder gives at least `fewest` different sizes for these ranks,
/// and its largest size has at least one element for each rank.
void check_sizes(const SizeRange& ladder, int ranks, std::size_t fewest);

}  // namespace trigram
