#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/host/clock.h"

namespace trigram::host {

/// The pause between two polls of MPI. It begins without sleeping, because most waits are short and
/// a sleep costs tens of microseconds. Then it sleeps for longer and longer, so that ranks that
/// share cores leave them to each other.
class BackOff {
 public:
  /// For the completion of a message. It polls often before it sleeps, because this wait is the
  /// most frequent.
  static BackOff for_messages() { return BackOff(2000, std::chrono::microseconds(200)); }
  /// For control messages, for which a separate thread polls.
  static BackOff for_control_messages() { return BackOff(20, std::chrono::microseconds(500)); }

  /// Returns no later than `latest`, the time at which this thread has something else to do.
  void pause(Clock::time_point latest = Clock::time_point::max()) {
    if (polls_ < eager_polls_) {
      ++polls_;
      sched_yield();
      return;
    }
    const Clock::time_point now = Clock::now();
    std::this_thread::sleep_until(latest - now < next_sleep_ ? latest : now + next_sleep_);
    next_sleep_ = std::min(2 * next_sleep_, longest_);
  }
  /// Call this when something has happened: the next pauses begin without sleeping again.
  void reset() {
    polls_ = 0;
    next_sleep_ = kFirstSleep;
  }
  /// True once the pauses are sleeps.
  bool sleeping() const { return polls_ == eager_polls_; }

 private:
  BackOff(int eager_polls, std::chrono::microseconds longest)
      : eager_polls_(eager_polls), longest_(longest) {}

  static constexpr std::chrono::microseconds kFirstSleep{10};
  const int eager_polls_;
  const std::chrono::microseconds longest_;
  std::chrono::microseconds next_sleep_ = kFirstSleep;
  int polls_ = 0;
};

}  // namespace trigram::host
