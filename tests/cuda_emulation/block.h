#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/cuda_emulation/async_copies.h"
#include "tests/cuda_emulation/device_builtins.h"

namespace cuda_emulation {

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
  // What it brought to where it waits, and what it takes from there.
  Site site;
  WarpOp op{};
  bool in_warp = false;  // waits for lanes of its warp
  unsigned mask = 0;
  int source = -1;
  unsigned long long bits = 0;
};

/// Where all threads of a block, a cluster or a grid meet.
struct Barrier {
  std::vector<Thread*> waiting;
  int count = 0;  // of the predicates that hold
};

struct Block {
  /// Its shared memory holds garbage: what is not initialised shows.
  Block(unsigned rank, uint3 index, unsigned threads, std::size_t shared_bytes);

  unsigned rank;  // within the wave
  uint3 index;
  std::vector<Thread> threads;
  std::size_t ended = 0;
  std::size_t shared_bytes;
  std::unique_ptr<std::byte[]> shared;  // until the block ends
  Barrier barrier;
};

/// The blocks that run side by side.
struct Wave {
  std::vector<std::unique_ptr<Block>> blocks;
  unsigned cluster = 1;
  std::size_t alive = 0;  // threads that have not ended
  std::string error;
  Barrier cluster_barrier;
  Barrier grid_barrier;

  /// Makes `thread` the running one.
  void select(Thread& thread);
  /// The running thread has ended.
  void end_thread();
};

/// The running thread and its wave.
Thread& self();
Wave& wave();
/// Gives the kernel up because of what the running thread did: its error is `what`, and the thread
/// ends by throwing GivenUp.
[[noreturn]] void fail(const std::string& what);
struct GivenUp {};
std::string describe(const Thread& thread);
std::string describe(const Site& site);
/// Leaves the turn to others; returns when `self()` is ready again.
void let_others_run();

}  // namespace cuda_emulation
