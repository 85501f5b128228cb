#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/host/clock.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/timeout.h"

namespace trigram::host {

/// The states of streams at one time, as a watchdog sees them.
struct StreamSnapshot {
  bool running = false;           // at least one stream runs, or is in a wait that may take long
  std::uint64_t waits_ended = 0;  // number of waits that have ended so far, over all streams
  /// One line for each blocked stream, which names the event for which the stream waits.
  std::vector<std::string> blocked;

  void add(Endpoint& endpoint);
  void add(const StreamSnapshot& other);
};

/// Decides whether a world hangs, from snapshots taken `interval` apart. It hangs if, for the
/// length of the timeout, every stream that has not ended was blocked or idle, at least one was
/// blocked, and no wait has ended. A stream that was blocked in two consecutive snapshots, with no
/// wait ended in between, was blocked all the time. Time in which no snapshot was taken because the
/// process was stopped does not count (see AwakeClock).
class Watchdog {
 public:
  explicit Watchdog(double timeout_s, Clock::time_point now = Clock::now())
      : timeout_(seconds(timeout_s), now) {}
  std::chrono::duration<double> interval() const { return timeout_.poll_interval(); }
  bool hangs(const StreamSnapshot& snapshot, Clock::time_point now = Clock::now());
  /// Starts the timeout again.
  void reset() { timeout_.restart(); }

 private:
  Timeout timeout_;
  std::uint64_t waits_ended_ = 0;
};

inline void StreamSnapshot::add(Endpoint& endpoint) {
  std::lock_guard lock(endpoint.mutex);
  waits_ended += endpoint.waits_ended;
  const bool timed_wait = endpoint.state == Endpoint::State::timed_wait;
  running |= timed_wait || endpoint.state == Endpoint::State::running;
  if (timed_wait || endpoint.state == Endpoint::State::blocked)
    blocked.push_back(endpoint.wait_line());
}

inline void StreamSnapshot::add(const StreamSnapshot& other) {
  running |= other.running;
  waits_ended += other.waits_ended;
  blocked.insert(blocked.end(), other.blocked.begin(), other.blocked.end());
}

inline bool Watchdog::hangs(const StreamSnapshot& snapshot, Clock::time_point now) {
  const bool progressing =
      snapshot.running || snapshot.blocked.empty() || snapshot.waits_ended != waits_ended_;
  waits_ended_ = snapshot.waits_ended;
  if (progressing) timeout_.restart(now);
  return timeout_.is_over(now);
}

}  // namespace trigram::host
