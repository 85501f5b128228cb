#pragma once

#include <algorithm>

#include "runtime/host/clock.h"

namespace trigram::host {

/// Measures how long a process has been awake, and tells it whether it may blame other processes
/// for their silence. A process that was stopped, for example by SIGSTOP, and then resumes has
/// missed the messages of that time. The time of the stop does not count as silence, and during a
/// grace period after it no process is blamed. At most one grace period is granted per timeout, so
/// that a process that stalls again and again, as on a heavily loaded machine, still detects dead
/// processes.
class AwakeClock {
 public:
  /// A process that runs normally calls update() more often than this. A longer gap counts as
  /// kLongestGap, or as a quarter of the timeout if that is less. It does not count as zero,
  /// because on a slow machine every call may follow a gap.
  static constexpr std::chrono::seconds kLongestGap{2};
  /// Length of the grace period after a gap; the timeout if that is shorter.
  static constexpr std::chrono::seconds kGrace{5};

  explicit AwakeClock(Clock::duration timeout, Clock::time_point now = Clock::now())
      : timeout_(timeout), last_(now) {}

  /// Call this at every check, with the current time. Returns how long the process has been awake.
  Clock::duration update(Clock::time_point now = Clock::now()) {
    const bool gap = now - last_ > kLongestGap;
    time_ += gap ? std::min<Clock::duration>(timeout_ / 4, kLongestGap) : now - last_;
    last_ = now;
    if (gap && time_ >= next_grace_) grant();
    return time_;
  }
  /// True if, at the last update(), a peer had been silent for the whole timeout, and no grace
  /// period was running. `since` is the time at which the peer was last heard, as `update` returned
  /// it.
  bool too_long(Clock::duration since) const {
    return time_ - since >= timeout_ && time_ >= grace_ends_;
  }

 private:
  void grant() {
    grace_ends_ = time_ + std::min<Clock::duration>(timeout_, kGrace);
    // With this distance at least one update() falls between two grace periods, even if every
    // update() follows a gap.
    next_grace_ = grace_ends_ + timeout_ + 2 * kLongestGap;
  }

  const Clock::duration timeout_;
  Clock::time_point last_;
  Clock::duration time_{0}, grace_ends_{0}, next_grace_{0};
};

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
