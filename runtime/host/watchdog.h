#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/host/clock.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/patience.h"

namespace trigram::host {

/// The states of streams at one time, as a watchdog sees them.
struct StreamSnapshot {
  bool running = false;              // some stream runs, or is in a wait that may take long
  std::uint64_t waits_over = 0;      // number of waits that have ended so far, over all streams
  std::vector<std::string> blocked;  // one line per blocked stream, with what it waits for

  void add(Endpoint& endpoint);
  void add(const StreamSnapshot& other);
};

/// Decides from snapshots, taken `interval` apart, that a world hangs: every stream that has not
/// ended is blocked or idle, at least one is blocked, and no wait has ended for the patience. A
/// stream that was blocked in two consecutive snapshots, with no wait ended in between, was blocked
/// all the time. Time in which no snapshot was taken because the process was stopped does not count
/// (see Awake).
class Watchdog {
 public:
  explicit Watchdog(double patience_s, Clock::time_point now = Clock::now())
      : patience_(seconds(patience_s), now) {}
  std::chrono::duration<double> interval() const { return patience_.look_interval(); }
  bool hangs(const StreamSnapshot& look, Clock::time_point now = Clock::now());
  /// Starts the timeout again.
  void reset() { patience_.restart(); }

 private:
  Patience patience_;
  std::uint64_t waits_over_ = 0;
};

}  // namespace trigram::host
