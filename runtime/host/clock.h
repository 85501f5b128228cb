#pragma once

#include <algorithm>
#include <chrono>

namespace trigram::host {

using Clock = std::chrono::steady_clock;

/// So many seconds, as the clock has them; 30 years at most, for whoever never wants to be told, so
/// that times to come can be had by adding them.
inline Clock::duration seconds(double s) {
  constexpr double kLongest = 1e9;
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(s, kLongest)));
}

}  // namespace trigram::host
