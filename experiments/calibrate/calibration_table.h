#pragma once

#include <string>

#include "experiments/calibrate/calibration.h"

namespace trigram {

/// What was measured beside what the fits make of it, in aligned columns, and what was fitted.
std::string calibration_table(const Calibration& calibration);

/// A cluster description, with the command that wrote it as a comment.
std::string description_text(const Calibration& calibration, const std::string& origin);

}  // namespace trigram
