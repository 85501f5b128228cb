#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/host/clock.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/patience.h"

namespace trigram::host {

/// What streams do at one moment, as a watchdog sees it.
struct StreamSnapshot {
  bool running = false;              // any of them, or it waits for what may take its time
  std::uint64_t waits_over = 0;      // so far, of all
  std::vector<std::string> blocked;  // what waits, and for what

  void add(Endpoint& endpoint);
  void add(const StreamSnapshot& other);
};

/// Decides from looks, taken `interval` apart, that a world hangs: every stream that has not ended
/// is blocked or idle, one at least is blocked, and no wait has ended for a while. A stream that
/// was blocked at two looks, with no wait over in between, was blocked all along. Time in which
/// nobody looked, because the process was stopped, does not count (see Awake).
class Watchdog {
 public:
  explicit Watchdog(double patience_s, Clock::time_point now = Clock::now())
      : patience_(seconds(patience_s), now) {}
  std::chrono::duration<double> interval() const { return patience_.look_interval(); }
  bool hangs(const StreamSnapshot& look, Clock::time_point now = Clock::now());
  /// Starts to wait anew.
  void reset() { patience_.restart(); }

 private:
  Patience patience_;
  std::uint64_t waits_over_ = 0;
};

}  // namespace trigram::host
