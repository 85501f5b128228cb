#include "runtime/host/watchdog.h"

namespace trigram::host {

void StreamSnapshot::add(Endpoint& endpoint) {
  std::lock_guard lock(endpoint.mutex);
  waits_ended += endpoint.waits_ended;
  const bool timed_wait = endpoint.state == Endpoint::State::timed_wait;
  running |= timed_wait || endpoint.state == Endpoint::State::running;
  if (timed_wait || endpoint.state == Endpoint::State::blocked)
    blocked.push_back(endpoint.wait_line());
}

void StreamSnapshot::add(const StreamSnapshot& other) {
  running |= other.running;
  waits_ended += other.waits_ended;
  blocked.insert(blocked.end(), other.blocked.begin(), other.blocked.end());
}

bool Watchdog::hangs(const StreamSnapshot& snapshot, Clock::time_point now) {
  const bool moves =
      snapshot.running || snapshot.blocked.empty() || snapshot.waits_ended != waits_ended_;
  waits_ended_ = snapshot.waits_ended;
  if (moves) timeout_.restart(now);
  return timeout_.is_over(now);
}

}  // namespace trigram::host
