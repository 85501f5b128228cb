#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Formats a number of a column.
using FormatNumber = std::function<std::string(double)>;

/// For runs that differ only in seeds, if some of them reach the target accuracy and others do not:
/// the range of the values at `key`, a pointer in their summaries, and how many runs have one, as
/// in "3.62–10.9 with 3 of 4 seeds". `from` points to the begin of each interval; null if values
/// are known exactly. Empty if all or no runs reach the target, because a mean must cover all
/// seeds. analysis/trigram_analysis/accuracy.py applies the same rule.
std::string reached_by_some(const std::vector<Json>& summaries, const char* key, const char* from,
                            const FormatNumber& format);

/// A line below a table that explains cells without a time to the target accuracy; empty if every
/// run reaches its target or if runs have no target.
std::string target_legend(const std::vector<Json>& summaries);

}  // namespace trigram
