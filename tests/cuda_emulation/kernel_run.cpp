#include "tests/cuda_emulation/kernel_run.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/cuda_emulation/block.h"
#include "tests/cuda_emulation/device_builtins.h"
#include "tests/cuda_emulation/fibre.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace cuda_emulation {
namespace {

// After this many turns of every thread, a loop that waits for other blocks counts as endless.
constexpr long kMaxSweeps = 1'000'000;

/// Stacks are reused from kernel to kernel, because creating one is expensive.
std::vector<std::unique_ptr<Fibre>>& idle_fibres() {
  static std::vector<std::unique_ptr<Fibre>> fibres;
  return fibres;
}

std::unique_ptr<Fibre> take_fibre() {
  auto& idle = idle_fibres();
  if (idle.empty()) return std::make_unique<Fibre>();
  auto fibre = std::move(idle.back());
  idle.pop_back();
  return fibre;
}

/// Runs the threads of a wave in turns. `backward` reverses the order of the threads in the first
/// turn; it changes with every turn.
class Scheduler {
 public:
  Scheduler(Wave& wave, bool backward, const std::function<void()>& body)
      : wave_(wave), body_(body), backward_(backward) {
    for (const auto& block : wave.blocks) {
      for (Thread& thread : block->threads) threads_.push_back(&thread);
    }
  }

  void run() {
    for (long sweep = 0; wave_.error.empty() && wave_.alive > 0; ++sweep) {
      bool ran = false;
      next_ = 0;
      while (next_ < threads_.size() && wave_.error.empty()) ran |= give_turn(take_next());
      if (!ran && wave_.error.empty()) fail_stuck();
      if (sweep == kMaxSweeps) wave_.error = "threads wait in a loop for what never comes";
      backward_ = !backward_;
    }
    for (auto& fibre : fibres_) idle_fibres().push_back(std::move(fibre));
  }

 private:
  Thread& take_next() {
    const std::size_t i = next_++;
    return *threads_[backward_ ? threads_.size() - 1 - i : i];
  }

  /// Returns whether the thread could make progress.
  bool give_turn(Thread& thread) {
    if (thread.state == Thread::waiting || thread.state == Thread::ended) return false;
    if (!thread.fibre) {
      Fibre* const fibre = fibres_.emplace_back(take_fibre()).get();
      fibre->set([this, fibre, first = &thread] { run_threads(*fibre, first); });
      thread.fibre = fibre;
    }
    wave_.select(thread);
    thread.fibre->resume();
    return true;
  }

  /// The body of a fibre. It runs one thread to its end, and then the next threads that have not
  /// started.
  void run_threads(Fibre& fibre, Thread* thread) {
    while (thread) {
      wave_.select(*thread);
      thread->fibre = &fibre;
      try {
        body_();
      } catch (const KernelFailed&) {
        return;
      }
      wave_.end_thread();
      thread = nullptr;
      while (next_ < threads_.size() && !thread && wave_.error.empty()) {
        // Only the scheduler resumes threads that have a fibre.
        if (peek_next().state != Thread::not_started) break;
        thread = &take_next();
      }
    }
  }

  Thread& peek_next() { return *threads_[backward_ ? threads_.size() - 1 - next_ : next_]; }

  void fail_stuck() {
    const auto waiting = std::ranges::find(threads_, Thread::waiting, &Thread::state);
    wave_.error = "no thread can go on: " + describe(**waiting) + " waits for ever";
  }

  Wave& wave_;
  const std::function<void()>& body_;
  std::vector<Thread*> threads_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::size_t next_ = 0;
  bool backward_;
};

uint3 index_of(unsigned linear, const dim3& size) {
  return {linear % size.x, linear / size.x % size.y, linear / size.x / size.y};
}

std::string run_wave(const Shape& shape, unsigned first, bool backward,
                     const std::function<void()>& body) {
  Wave wave;
  for (unsigned i = 0; i < shape.cluster; ++i) {
    wave.blocks.push_back(std::make_unique<Block>(i, index_of(first + i, shape.grid),
                                                  shape.block.x * shape.block.y * shape.block.z,
                                                  shape.shared_bytes));
    for (Thread& thread : wave.blocks.back()->threads) {
      thread.index = index_of(thread.linear, shape.block);
    }
    wave.alive += wave.blocks.back()->threads.size();
  }
  Scheduler(wave, backward, body).run();
  return wave.error;
}

}  // namespace

std::string run_kernel(const Shape& shape, const std::function<void()>& thread) {
  static bool backward = true;
  backward = !backward;
  const unsigned blocks = shape.grid.x * shape.grid.y * shape.grid.z;
  blockDim = shape.block;
  gridDim = shape.grid;
  for (unsigned i = 0; i < blocks; i += shape.cluster) {
    const unsigned first = backward ? blocks - shape.cluster - i : i;
    const std::string error = run_wave(shape, first, backward, thread);
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace cuda_emulation
