#include "experiments/python/user_loop.h"

#include <utility>

namespace trigram {

void UserLoop::set(Phase phase) {
  phase_ = phase;
  changed_.notify_all();
}

/// Waits on the user's thread until the phase is wanted. A loop that has ended regularly can only
/// have been closed.
template <class Wanted>
void UserLoop::await(std::unique_lock<std::mutex>& lock, Wanted wanted) {
  changed_.wait(
      lock, [&] { return wanted(phase_) || phase_ == Phase::ended || phase_ == Phase::closed; });
  if (error_) std::rethrow_exception(error_);
  if (!wanted(phase_)) throw std::logic_error("the training has ended; no step can follow");
}

void UserLoop::begin_step() {
  std::unique_lock lock(mutex_);
  await(lock, [](Phase phase) { return phase == Phase::between_steps; });
  set(Phase::begun);
  await(lock, [](Phase phase) { return phase == Phase::forward; });
}

void UserLoop::end_forward(double loss) {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  loss_ = loss;
  ready_.begin();
  set(Phase::backward);
}

void UserLoop::end_backward() {
  ready_.finish();
  std::unique_lock lock(mutex_);
  await(lock, [](Phase phase) { return phase == Phase::between_steps || phase == Phase::ended; });
}

void UserLoop::between_steps(const std::function<void()>& function) {
  std::unique_lock lock(mutex_);
  await(lock, [](Phase phase) { return phase == Phase::between_steps; });
  function_ = function;
  changed_.notify_all();
  await(lock, [this](Phase) { return !function_; });
  if (function_error_) std::rethrow_exception(std::exchange(function_error_, nullptr));
}

void UserLoop::close() {
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::ended) return;
  const bool in_backward = phase_ == Phase::backward;
  set(Phase::closed);
  lock.unlock();
  if (in_backward) ready_.finish(std::make_exception_ptr(Closed()));
}

bool UserLoop::await_step() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return function_ || phase_ != Phase::between_steps; });
    if (!function_) return phase_ != Phase::closed;
    lock.unlock();
    std::exception_ptr error;
    try {
      function_();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    function_error_ = error;
    function_ = nullptr;
    changed_.notify_all();
  }
}

void UserLoop::end_iteration() {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::closed) set(Phase::between_steps);
}

void UserLoop::forward() {
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::backward) {  // the second pass of this iteration
    set(Phase::between_steps);
    lock.unlock();
    await_step();
    lock.lock();
  }
  if (phase_ == Phase::closed) throw Closed();
  set(Phase::forward);
  changed_.wait(lock, [this] { return phase_ == Phase::backward || phase_ == Phase::closed; });
  if (phase_ == Phase::closed) throw Closed();
}

void UserLoop::ended(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  function_ = nullptr;
  set(Phase::ended);
}

}  // namespace trigram
