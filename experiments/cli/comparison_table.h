#pragma once

#include <string>
#include <vector>

#include "core/config/kinds.h"

namespace trigram {

/// An aligned table of finished runs, given their manifests: a row for each point of the sweep,
/// runs that differ in the seed alone as mean and spread. Within each group of rows that differ in
/// the algorithm alone, the shortest step is marked with '*'.
std::string comparison_table(const std::vector<Json>& manifests);

}  // namespace trigram
