#pragma once

#include <string>

#include "experiments/bench/measure.h"

namespace trigram {

/// The whole bytes that an option says. Throws ConfigError unless there is one at least.
std::size_t bytes_in(const std::string& option, const std::string& text);

/// Throws ConfigError unless the ladder has at least so many sizes for these ranks, of which the
/// least is an element for each.
void check_sizes(const SizeRange& ladder, int ranks, std::size_t fewest);

}  // namespace trigram
