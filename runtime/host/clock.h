#pragma once

#include <algorithm>
#include <chrono>

namespace trigram::host {

using Clock = std::chrono::steady_clock;

/// Converts seconds to the clock's duration. Longer durations are cut to about 30 years, which
/// means "never", so that adding one to a time point cannot overflow.
inline Clock::duration seconds(double s) {
  constexpr double kLongest = 1e9;
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(s, kLongest)));
}

}  // namespace trigram::host
