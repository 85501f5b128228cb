#pragma once

#include <algorithm>

#include "runtime/host/clock.h"

namespace trigram::host {

/// The time for which a process that watches others is awake, and whether they may be accused of a
/// silence. A process that was stopped, as by SIGSTOP, and goes on has not heard what others said
/// meanwhile: that time is not held against them, and for a moment after it nobody is accused. Such
/// a moment is granted once per patience, so that a watcher that stalls again and again, as on a
/// machine under heavy load, gets to its judgement all the same.
class Awake {
 public:
  /// The process looks more often than this, unless it is kept from it. A longer gap counts as this
  /// long, or as a quarter of the patience if that is less. Not as nothing: a machine may be so
  /// slow that there is a gap before every look.
  static constexpr std::chrono::seconds kLongestGap{2};
  /// How long nobody is accused after a gap, if the patience is not shorter.
  static constexpr std::chrono::seconds kGrace{5};

  explicit Awake(Clock::duration patience, Clock::time_point now = Clock::now())
      : patience_(patience), last_(now) {}

  /// With every look, at `now`. Returns how long the process has been awake.
  Clock::duration look(Clock::time_point now = Clock::now()) {
    const bool gap = now - last_ > kLongestGap;
    time_ += gap ? std::min<Clock::duration>(patience_ / 4, kLongestGap) : now - last_;
    last_ = now;
    if (gap && time_ >= next_grace_) grant();
    return time_;
  }
  /// Whether what was heard of at `since`, a time that `look` has returned, has been silent for the
  /// whole patience at the last look, and may be accused of it.
  bool too_long(Clock::duration since) const {
    return time_ - since >= patience_ && time_ >= grace_ends_;
  }

 private:
  void grant() {
    grace_ends_ = time_ + std::min<Clock::duration>(patience_, kGrace);
    // Between two moments of grace there are looks, even where each follows a gap.
    next_grace_ = grace_ends_ + patience_ + 2 * kLongestGap;
  }

  const Clock::duration patience_;
  Clock::time_point last_;
  Clock::duration time_{0}, grace_ends_{0}, next_grace_{0};
};

}  // namespace trigram::host
