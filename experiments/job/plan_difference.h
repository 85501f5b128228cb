#pragma once

#include <string>
#include <vector>

#include "experiments/config/plan.h"

namespace trigram {

/// What a process of a job says of its plan where not all have the same: its name, how many runs it
/// has, and the run at `index`, which is null where it has fewer.
std::string describe_plan(const Plan& plan, std::size_t index);

/// Which ranks have another plan than rank 0, and in what: the first fields that differ, with both
/// values. By rank: `statements`, which are equal where plans are, and `descriptions` at the first
/// run that is not the same on all.
std::string plan_difference(const std::vector<std::string>& statements,
                            const std::vector<std::string>& descriptions);

}  // namespace trigram
