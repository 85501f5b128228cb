#pragma once

#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// An aligned table of finished runs, given their manifests, with a row for each run, then their
/// warnings, assumptions, and what each run is too short to show. It compares nothing. `trigram
/// run` prints it where the comparison, which is made in Python, is not to be had.
std::string plain_table(const std::vector<Json>& manifests);

}  // namespace trigram
