#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace trigram {

/// The gradients of one backward pass after another, which one thread completes in any order and
/// another thread takes in the order of the tensors.
class ReadyTensors {
 public:
  /// `tensors` gradients per pass. `users[i]`, if given, is the number of calls of `complete(i)`
  /// that complete tensor i: several parameters may share its memory.
  explicit ReadyTensors(std::size_t tensors, std::vector<int> users = {})
      : users_(users.empty() ? std::vector<int>(tensors, 1) : std::move(users)), missing_(users_) {}

  /// Forgets the last pass. Neither thread may be inside another function.
  void begin() {
    const std::lock_guard lock(mutex_);
    missing_ = users_;
    finished_ = false;
    error_ = nullptr;
  }
  /// Called by the thread of the backward pass when it has added a gradient to tensor i.
  void complete(std::size_t i) {
    const std::lock_guard lock(mutex_);
    if (--missing_[i] == 0) changed_.notify_one();
  }
  /// Called by the same thread at the end of the pass. Completes all other tensors, which the pass
  /// did not use, or passes on the exception that ended it.
  void finish(std::exception_ptr error = nullptr) {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    error_ = std::move(error);
    changed_.notify_one();
  }
  /// Calls `on_tensor` once per tensor, in order, as soon as the tensor and all tensors before it
  /// are complete. Returns when the pass has finished, and rethrows its exception.
  void take(const std::function<void()>& on_tensor) {
    for (std::size_t i = 0; i < users_.size(); ++i) {
      await([&] { return missing_[i] <= 0 || finished_; });
      on_tensor();
    }
    await([&] { return finished_; });
  }

 private:
  template <class Ready>
  void await(Ready ready) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, ready);
    if (error_) std::rethrow_exception(error_);
  }

  const std::vector<int> users_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> missing_;
  bool finished_ = true;
  std::exception_ptr error_;
};

}  // namespace trigram
