#pragma once

#include <algorithm>

#include "runtime/host/awake_clock.h"

namespace trigram::host {

/// Exit code of a process whose wait for other processes has timed out.
inline constexpr int kWatchdogExit = 124;

/// A timeout for waits for other processes. It ignores time in which this process was suspended.
class Timeout {
 public:
  explicit Timeout(Clock::duration longest, Clock::time_point now = Clock::now())
      : longest_(longest), awake_(longest, now) {}
  explicit Timeout(double longest_s) : Timeout(seconds(longest_s)) {}
  /// True once the timeout has passed. Call it often (see AwakeClock).
  bool is_over(Clock::time_point now = Clock::now()) {
    awake_.update(now);
    return awake_.too_long(began_);
  }
  /// Starts the timeout again.
  void restart(Clock::time_point now = Clock::now()) { began_ = awake_.update(now); }
  Clock::duration poll_interval() const { return std::min(longest_ / 4, seconds(0.5)); }

 private:
  const Clock::duration longest_;
  AwakeClock awake_;
  Clock::duration began_{0};  // in seconds of awake time
};

}  // namespace trigram::host
