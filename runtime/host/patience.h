#pragma once

#include <algorithm>

#include "runtime/host/awake.h"

namespace trigram::host {

/// Exit code of a process that has waited for others in vain.
inline constexpr int kWatchdogExit = 124;

/// How long a process waits for others, as far as it is awake itself.
class Patience {
 public:
  explicit Patience(Clock::duration longest, Clock::time_point now = Clock::now())
      : longest_(longest), awake_(longest, now) {}
  explicit Patience(double longest_s) : Patience(seconds(longest_s)) {}
  /// To be asked often (see Awake).
  bool is_over(Clock::time_point now = Clock::now()) {
    awake_.look(now);
    return awake_.too_long(began_);
  }
  /// Waits anew.
  void restart(Clock::time_point now = Clock::now()) { began_ = awake_.look(now); }
  Clock::duration look_interval() const { return std::min(longest_ / 4, seconds(0.5)); }

 private:
  const Clock::duration longest_;
  Awake awake_;
  Clock::duration began_{0};  // by the time awake
};

}  // namespace trigram::host
