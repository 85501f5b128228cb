#include "runtime/host/mutex.h"

#include "core/check.h"
#include "runtime/host/world.h"

namespace trigram::host {

void HostMutex::lock() {
  TRIGRAM_CHECK(this_endpoint() != nullptr, "a stream's mutex is locked outside any stream");
  Endpoint& self = *this_endpoint();
  self.world.check_not_failed();
  Turn turn{&self};
  {
    std::lock_guard guard(mutex_);
    if (!locked_) {
      locked_ = true;
      return;
    }
    queue_.push_back(&turn);
  }
  try {
    std::unique_lock lock(self.mutex);
    self.park(lock, {.kind = Wait::mutex}, [&] {
      std::lock_guard guard(mutex_);
      return turn.granted;
    });
  } catch (...) {
    give_up(turn);
    throw;
  }
}

void HostMutex::unlock() noexcept {
  Endpoint* next = nullptr;
  {
    std::lock_guard guard(mutex_);
    if (queue_.empty()) {
      locked_ = false;
    } else {
      queue_.front()->granted = true;
      next = queue_.front()->stream;
      queue_.pop_front();
    }
  }
  if (next != nullptr) next->poke();
}

void HostMutex::give_up(Turn& turn) noexcept {
  bool granted;
  {
    std::lock_guard guard(mutex_);
    std::erase(queue_, &turn);
    granted = turn.granted;
  }
  if (granted) unlock();
}

}  // namespace trigram::host
