#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Shows a number of a column.
using Show = std::function<std::string(double)>;

/// What runs that differ in seeds alone come to at `key`, a pointer in their summaries, where some
/// of them reach the target accuracy and others never do: the range of those that do, and how many
/// they are, as "3.62–10.9 with 3 of 4 seeds". Intervals begin at the pointer `from`, null where
/// the values are known exactly. Empty where all reach it, or none does: a mean is of all seeds.
/// analysis/trigram_analysis/accuracy.py does the same.
std::string reached_by_some(const std::vector<Json>& summaries, const char* key, const char* from,
                            const Show& show);

/// A line below a table that explains the cells which have no time to the target accuracy; empty
/// where every run reaches the target, and where runs have none.
std::string target_legend(const std::vector<Json>& summaries);

}  // namespace trigram
