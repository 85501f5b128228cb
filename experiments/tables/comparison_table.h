#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// An aligned table of finished runs, given their manifests. It has a row for each point of the
/// sweep; runs that differ only in seeds are combined into mean and spread. In each group of rows
/// that differ only in the algorithm, '*' marks the shortest step. '!' marks runs that do not show
/// their algorithm's cost; they never get '*'. Lines below say why, which steps the means cover if
/// not all, and what the runs assume or do not take into account. If workers' paces differ much,
/// those of the slowest and the fastest follow the sum over all workers.
std::string comparison_table(const std::vector<Json>& manifests);

}  // namespace trigram
