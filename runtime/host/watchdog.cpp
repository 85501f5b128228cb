#include "runtime/host/watchdog.h"

#include <algorithm>

namespace trigram::host {

void Look::add(Endpoint& endpoint) {
  std::lock_guard lock(endpoint.mutex);
  waits_over += endpoint.waits_over;
  const bool patient = endpoint.state == Endpoint::State::patient;
  running |= patient || endpoint.state == Endpoint::State::running;
  if (patient || endpoint.state == Endpoint::State::blocked)
    blocked.push_back(endpoint.wait_line());
}

void Look::add(const Look& other) {
  running |= other.running;
  waits_over += other.waits_over;
  blocked.insert(blocked.end(), other.blocked.begin(), other.blocked.end());
}

std::chrono::duration<double> Watchdog::interval() const {
  return std::min(patience_ / 4, std::chrono::duration<double>(0.5));
}

bool Watchdog::hangs(const Look& look) {
  const bool moves = look.running || look.blocked.empty() || look.waits_over != waits_over_;
  waits_over_ = look.waits_over;
  if (moves) reset();
  const Clock::time_point now = Clock::now();
  last_progress_ = std::max(last_progress_, awake_.since(now));
  return now - last_progress_ >= patience_;
}

}  // namespace trigram::host
