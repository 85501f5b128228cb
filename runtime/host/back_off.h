#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/host/clock.h"

namespace trigram::host {

/// The pause between two looks at what MPI has done: none at first, since most waits are short and
/// a sleep costs tens of microseconds; then naps that grow, for ranks that share cores.
class BackOff {
 public:
  /// For the end of a message: eager, as algorithms wait for nothing more often.
  static BackOff of_a_message() { return BackOff(2000, std::chrono::microseconds(200)); }
  /// For control messages, which a thread beside the streams polls for.
  static BackOff of_a_control_message() { return BackOff(20, std::chrono::microseconds(500)); }

  /// Ends at `latest`, when something is due that this thread has to do.
  void pause(Clock::time_point latest = Clock::time_point::max()) {
    if (looks_ < eager_looks_) {
      ++looks_;
      sched_yield();
      return;
    }
    const Clock::time_point now = Clock::now();
    std::this_thread::sleep_until(latest - now < nap_ ? latest : now + nap_);
    nap_ = std::min(2 * nap_, longest_);
  }
  /// Something has happened.
  void reset() {
    looks_ = 0;
    nap_ = kFirstNap;
  }
  /// True once it has begun to nap.
  bool patient() const { return looks_ == eager_looks_; }

 private:
  BackOff(int eager_looks, std::chrono::microseconds longest)
      : eager_looks_(eager_looks), longest_(longest) {}

  static constexpr std::chrono::microseconds kFirstNap{10};
  const int eager_looks_;
  const std::chrono::microseconds longest_;
  std::chrono::microseconds nap_ = kFirstNap;
  int looks_ = 0;
};

}  // namespace trigram::host
