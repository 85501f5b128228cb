#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// An aligned table with a row for each finished run, given the runs' manifests. Below it are notes
/// about runs that are too short or that need an explanation, then warnings and assumptions.
/// `trigram run` prints this table if the comparison of runs, which is made in Python, fails.
std::string plain_table(const std::vector<Json>& manifests);

}  // namespace trigram
