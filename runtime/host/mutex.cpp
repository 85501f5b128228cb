#include "runtime/host/mutex.h"

#include "core/check.h"
#include "runtime/host/world.h"

namespace trigram::host {

void HostMutex::lock() {
  acquire();
  if (!this_endpoint()->queue) return;
  // The accelerator work of successive holders must not overlap, either. The host waits for the
  // last holder's work; otherwise a loop of critical sections could issue work without bound.
  const auto released = last_release();
  try {
    if (released)
      this_endpoint()->world.waiter().await({.kind = Wait::mutex},
                                            [&] { return released->reached(); });
  } catch (...) {
    release(released);
    throw;
  }
}

std::shared_ptr<AcceleratorEvent> HostMutex::last_release() {
  std::lock_guard guard(mutex_);
  return released_;
}

void HostMutex::acquire() {
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
  std::shared_ptr<AcceleratorEvent> issued;
  try {
    issued = issued_here();
  } catch (...) {  // the accelerator is broken, so this rank cannot continue
    this_endpoint()->world.fail(std::current_exception());
  }
  release(std::move(issued));
}

void HostMutex::release(std::shared_ptr<AcceleratorEvent> issued) noexcept {
  Endpoint* next = nullptr;
  {
    std::lock_guard guard(mutex_);
    released_ = std::move(issued);
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
  std::shared_ptr<AcceleratorEvent> released;
  {
    std::lock_guard guard(mutex_);
    std::erase(queue_, &turn);
    granted = turn.granted;
    released = released_;
  }
  if (granted) release(std::move(released));
}

}  // namespace trigram::host
