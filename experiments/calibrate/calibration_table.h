#pragma once

#include <string>

#include "experiments/calibrate/calibration.h"

namespace trigram {

/// The measured and the fitted times in aligned columns, and the fitted parameters.
std::string calibration_table(const Calibration& calibration);

/// The cluster's description as JSON, with a comment that says how it was made (`origin`).
std::string description_text(const Calibration& calibration, const std::string& origin);

}  // namespace trigram
