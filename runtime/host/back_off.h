#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/host/clock.h"

namespace trigram::host {

/// The pause between two polls of MPI. It begins without sleeping, because most waits are short and
/// a sleep costs tens of microseconds. Then the sleeps grow, so that ranks that share cores make
/// room for each other.
class BackOff {
 public:
  /// For the completion of a message: polls eagerly, because this is the most frequent wait.
  static BackOff of_a_message() { return BackOff(2000, std::chrono::microseconds(200)); }
  /// For control messages, which a thread beside the streams polls for.
  static BackOff of_a_control_message() { return BackOff(20, std::chrono::microseconds(500)); }

  /// Returns no later than `latest`, the time at which this thread has something else to do.
  void pause(Clock::time_point latest = Clock::time_point::max()) {
    if (polls_ < eager_polls_) {
      ++polls_;
      sched_yield();
      return;
    }
    const Clock::time_point now = Clock::now();
    std::this_thread::sleep_until(latest - now < nap_ ? latest : now + nap_);
    nap_ = std::min(2 * nap_, longest_);
  }
  /// Call this when something has happened: starts again without sleeping.
  void reset() {
    polls_ = 0;
    nap_ = kFirstNap;
  }
  /// True once the pauses are sleeps.
  bool sleeping() const { return polls_ == eager_polls_; }

 private:
  BackOff(int eager_polls, std::chrono::microseconds longest)
      : eager_polls_(eager_polls), longest_(longest) {}

  static constexpr std::chrono::microseconds kFirstNap{10};
  const int eager_polls_;
  const std::chrono::microseconds longest_;
  std::chrono::microseconds nap_ = kFirstNap;
  int polls_ = 0;
};

}  // namespace trigram::host
