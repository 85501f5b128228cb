#pragma once

#include <chrono>

namespace trigram::host {

using Clock = std::chrono::steady_clock;

/// So many seconds, as the clock has them.
inline Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

}  // namespace trigram::host
