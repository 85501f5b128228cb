#include "tests/nccl_emulation/progress.h"

#include <chrono>

#include "tests/cuda_emulation/queue.h"

namespace nccl_emulation {

Progress& Progress::get() {
  static Progress progress;
  return progress;
}

Progress::~Progress() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::operation_queued() {
  std::lock_guard lock(mutex_);
  ++waiting_;
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_all();
}

void Progress::operation_done() {
  std::lock_guard lock(mutex_);
  --waiting_;
}

void Progress::work() {
  constexpr std::chrono::microseconds kPause{100};
  std::unique_lock lock(mutex_);
  while (!closing_) {
    changed_.wait(lock, [this] { return closing_ || waiting_ > 0; });
    lock.unlock();
    cuda_emulation::advance_all();
    std::this_thread::sleep_for(kPause);
    lock.lock();
  }
}

}  // namespace nccl_emulation
