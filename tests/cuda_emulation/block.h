#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/cuda_emulation/device_builtins.h"

namespace cuda_emulation {

/// The asynchronous copies that a thread has requested, in groups. A copy is performed as late as
/// CUDA allows; copies that belong to no group are never performed.
class AsyncCopies {
 public:
  void add(void* to, const void* from, std::size_t nbytes) { open_.push_back({to, from, nbytes}); }
  void commit();
  /// Performs the copies of all groups except the last `groups`.
  void finish_all_but(std::size_t groups);

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t nbytes;
  };
  std::vector<Copy> open_;
  std::vector<std::vector<Copy>> groups_;
};

class Fibre;
struct Block;

/// One thread of a running kernel.
struct Thread {
  enum State : unsigned char { not_started, ready, waiting, ended };
  Block* block = nullptr;
  unsigned linear = 0;
  uint3 index{};
  State state = not_started;
  Fibre* fibre = nullptr;
  AsyncCopies copies;
  // The operation at which the thread waits and its input to it; `bits` then becomes the result.
  Site site;
  WarpOp op{};
  bool in_warp = false;  // true while the thread waits for lanes of its warp
  unsigned mask = 0;
  int source = -1;
  unsigned long long bits = 0;
};

/// A barrier for all threads of a block or of a cluster.
struct Barrier {
  std::vector<Thread*> waiting;
  int count = 0;  // number of threads whose predicate holds
};

struct Block {
  /// The shared memory contains garbage, so that missing initialisation is noticed.
  Block(unsigned rank, uint3 index, unsigned threads, std::size_t shared_bytes);

  unsigned rank;  // index within the wave
  uint3 index;
  std::vector<Thread> threads;
  std::size_t ended = 0;
  std::size_t shared_bytes;
  std::unique_ptr<std::byte[]> shared;  // freed when the block ends
  Barrier barrier;
};

/// The blocks that run concurrently, which are one cluster.
struct Wave {
  std::vector<std::unique_ptr<Block>> blocks;
  std::size_t alive = 0;  // number of threads that have not ended
  std::string error;
  Barrier cluster_barrier;

  /// Makes `thread` the running thread.
  void select(Thread& thread);
  /// Called when the running thread has ended.
  void end_thread();
};

/// The running thread and its wave.
Thread& self();
Wave& wave();
/// Ends the kernel because of an error of the running thread: sets the kernel's error to `what`,
/// and ends the thread by throwing KernelFailed.
[[noreturn]] void fail(const std::string& what);
struct KernelFailed {};
std::string describe(const Thread& thread);
std::string describe(const Site& site);
/// Lets other threads run; returns when `self()` is ready again.
void let_others_run();

}  // namespace cuda_emulation
