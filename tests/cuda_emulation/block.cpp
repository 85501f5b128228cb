#include "tests/cuda_emulation/block.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/cuda_emulation/cooperative_groups.h"
#include "tests/cuda_emulation/cuda_pipeline_primitives.h"
#include "tests/cuda_emulation/fibre.h"

namespace cuda_emulation {

void AsyncCopies::commit() { groups_.push_back(std::exchange(open_, {})); }

void AsyncCopies::finish_all_but(std::size_t groups) {
  if (groups_.size() <= groups) return;
  const auto end = groups_.end() - static_cast<std::ptrdiff_t>(groups);
  for (auto group = groups_.begin(); group != end; ++group)
    for (const Copy& copy : *group) std::memcpy(copy.to, copy.from, copy.nbytes);
  groups_.erase(groups_.begin(), end);
}

}  // namespace cuda_emulation

void __pipeline_memcpy_async(void* to, const void* from, std::size_t nbytes) {
  cuda_emulation::self().copies.add(to, from, nbytes);
}

void __pipeline_commit() { cuda_emulation::self().copies.commit(); }

void __pipeline_wait_prior(std::size_t groups) {
  cuda_emulation::self().copies.finish_all_but(groups);
}

namespace cuda_emulation {
namespace {

Thread* running_thread = nullptr;
Wave* running_wave = nullptr;

// Waits at a barrier that `expected` threads must reach, all of them at the same source location.
// Returns the number of threads whose predicate holds.
int wait_at(Barrier& barrier, std::size_t expected, bool someone_ended, bool predicate,
            const char* what, const Site& site) {
  Thread& thread = self();
  thread.site = site;
  if (someone_ended) {
    fail(describe(thread) + " is at a barrier of its " + what + ", of which a thread has ended");
  }
  if (!barrier.waiting.empty()) {  // all waiting threads are at the same location
    const Thread& other = *barrier.waiting.front();
    if (other.site.line() != site.line() ||
        std::strcmp(other.site.file_name(), site.file_name()) != 0)
      fail(describe(thread) + " is at another barrier than " + describe(other));
  }
  barrier.count += predicate;
  barrier.waiting.push_back(&thread);
  thread.state = Thread::waiting;
  if (barrier.waiting.size() < expected) {
    let_others_run();
    return static_cast<int>(thread.bits);
  }
  for (Thread* other : barrier.waiting) {
    other->bits = static_cast<unsigned>(barrier.count);
    other->state = Thread::ready;
  }
  barrier = {};
  return static_cast<int>(thread.bits);
}

}  // namespace

Block::Block(unsigned rank_, uint3 index_, unsigned count, std::size_t bytes)
    : rank(rank_),
      index(index_),
      threads(count),
      shared_bytes(bytes),
      shared(new std::byte[bytes]) {
  std::memset(shared.get(), 0xCB, bytes);
  for (unsigned i = 0; i < count; ++i) {
    threads[i].block = this;
    threads[i].linear = i;
  }
}

void Wave::select(Thread& thread) {
  running_wave = this;
  running_thread = &thread;
  thread.state = Thread::ready;
  threadIdx = thread.index;
  blockIdx = thread.block->index;
}

void Wave::end_thread() {
  Thread& thread = self();
  Block& block = *thread.block;
  thread.state = Thread::ended;
  thread.fibre = nullptr;
  --alive;
  if (++block.ended == block.threads.size()) block.shared.reset();
  // Threads that wait for the ended thread would wait forever.
  for (const Barrier* barrier : {&block.barrier, &cluster_barrier}) {
    if (barrier->waiting.empty()) continue;
    error = describe(thread) + " has ended while " + describe(*barrier->waiting.front()) +
            " waits for it";
    return;
  }
  const std::size_t warp = thread.linear / 32 * 32;
  for (std::size_t i = warp; i < std::min(warp + 32, block.threads.size()); ++i) {
    const Thread& other = block.threads[i];
    if (other.state == Thread::waiting && other.in_warp && (other.mask >> thread.linear % 32 & 1)) {
      error = describe(thread) + " has ended while " + describe(other) + " waits for it";
      return;
    }
  }
}

Thread& self() { return *running_thread; }
Wave& wave() { return *running_wave; }

void fail(const std::string& what) {
  wave().error = what;
  throw KernelFailed{};
}

std::string describe(const Site& site) {
  return std::string(site.file_name()) + ":" + std::to_string(site.line());
}

std::string describe(const Thread& thread) {
  const auto text = [](const uint3& i) {
    return std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z);
  };
  const std::string where = thread.site.line() == 0 ? "" : " (" + describe(thread.site) + ")";
  return "thread " + text(thread.index) + " of block " + text(thread.block->index) + where;
}

void let_others_run() { self().fibre->yield(); }

void yield(const Site& site) {
  self().site = site;
  let_others_run();
}

void* dynamic_shared() { return self().block->shared.get(); }

int block_barrier(bool predicate, const Site& site) {
  Block& block = *self().block;
  return wait_at(block.barrier, block.threads.size(), block.ended > 0, predicate, "block", site);
}

unsigned cluster_rank() { return self().block->rank; }
unsigned cluster_size() { return static_cast<unsigned>(wave().blocks.size()); }

void cluster_barrier(const Site& site) {
  Wave& w = wave();
  const bool ended =
      std::ranges::any_of(w.blocks, [](const auto& block) { return block->ended > 0; });
  wait_at(w.cluster_barrier, w.blocks.size() * self().block->threads.size(), ended, false,
          "cluster", site);
}

void* in_block(void* address, unsigned rank, const Site& site) {
  Wave& w = wave();
  Block& own = *self().block;
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(address) - own.shared.get());
  if (offset >= own.shared_bytes || rank >= w.blocks.size()) {
    fail(describe(site) + ": no address within the dynamic shared memory of block " +
         std::to_string(rank) + " of the cluster");
  }
  const Block& other = *w.blocks[rank];
  if (!other.shared) fail(describe(site) + ": block " + std::to_string(rank) + " has ended");
  return other.shared.get() + offset;
}

}  // namespace cuda_emulation
