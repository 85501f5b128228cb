#pragma once

#include <string>
#include <vector>

#include "experiments/config/plan.h"

namespace trigram {

/// Describes a process's plan for comparison: its name, its number of runs, and the run at `index`,
/// which is null if the plan has fewer runs.
std::string describe_plan(const Plan& plan, std::size_t index);

/// Says which ranks have a different plan than rank 0, and the first fields that differ with both
/// values. `statements` and `descriptions` are by rank. Statements are equal if plans are; the
/// descriptions are of the first run that differs.
std::string plan_difference(const std::vector<std::string>& statements,
                            const std::vector<std::string>& descriptions);

}  // namespace trigram
