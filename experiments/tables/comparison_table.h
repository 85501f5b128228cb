#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// An aligned table of finished runs, given their manifests: a row for each point of the sweep,
/// runs that differ in the seed alone as mean and spread. Within each group of rows that differ in
/// the algorithm alone, the shortest step is marked with '*'.
/// Runs that show no exchange of their algorithm are marked with '!' and never with '*'; lines
/// below say why, which steps means are over where steps were left out, and what the runs do not
/// take into account or take for granted. Where workers' paces differ much, those of the slowest
/// and the fastest stand beside the sum of all.
std::string comparison_table(const std::vector<Json>& manifests);

}  // namespace trigram
