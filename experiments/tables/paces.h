#pragma once

#include <string>

namespace trigram {

/// Samples per second of one worker: "0.402", "12.8", "1290".
std::string pace_text(double samples_per_s);

/// " (0.402 to 12.8)": the paces of the slowest and the fastest worker, to follow the sum over all.
std::string paces_text(double slowest, double fastest);

}  // namespace trigram
