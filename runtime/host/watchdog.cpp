#include "runtime/host/watchdog.h"

namespace trigram::host {

void StreamSnapshot::add(Endpoint& endpoint) {
  std::lock_guard lock(endpoint.mutex);
  waits_over += endpoint.waits_over;
  const bool patient = endpoint.state == Endpoint::State::patient;
  running |= patient || endpoint.state == Endpoint::State::running;
  if (patient || endpoint.state == Endpoint::State::blocked)
    blocked.push_back(endpoint.wait_line());
}

void StreamSnapshot::add(const StreamSnapshot& other) {
  running |= other.running;
  waits_over += other.waits_over;
  blocked.insert(blocked.end(), other.blocked.begin(), other.blocked.end());
}

bool Watchdog::hangs(const StreamSnapshot& look, Clock::time_point now) {
  const bool moves = look.running || look.blocked.empty() || look.waits_over != waits_over_;
  waits_over_ = look.waits_over;
  if (moves) patience_.restart(now);
  return patience_.is_over(now);
}

}  // namespace trigram::host
