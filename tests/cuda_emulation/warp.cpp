#include <algorithm>

#include "tests/cuda_emulation/block.h"

namespace cuda_emulation {
namespace {

/// The lanes of the running thread's warp.
struct Lanes {
  Lanes() {
    auto& threads = self().block->threads;
    const std::size_t begin = self().linear / 32 * 32;
    first = &threads[begin];
    count = static_cast<unsigned>(std::min<std::size_t>(32, threads.size() - begin));
  }
  Thread* first;
  unsigned count;
};

void check_partners(const Lanes& lanes, const Thread& thread) {
  if (!(thread.mask >> lane() & 1)) fail(describe(thread) + " is not in its own mask");
  for (unsigned i = 0; i < 32; ++i) {
    if (!(thread.mask >> i & 1)) continue;
    if (i >= lanes.count) {
      fail(describe(thread) + " waits for lane " + std::to_string(i) + ", which does not exist");
    }
    const Thread& other = lanes.first[i];
    if (other.state == Thread::ended) {
      fail(describe(thread) + " waits for " + describe(other) + ", which has ended");
    }
    if (other.state == Thread::waiting && other.in_warp &&
        (other.mask != thread.mask || other.op != thread.op ||
         other.site.line() != thread.site.line())) {
      fail(describe(thread) + " needs " + describe(other) +
           " in the same warp operation with the same mask, but that thread waits in a different "
           "one");
    }
  }
}

bool all_arrived(const Lanes& lanes, unsigned mask) {
  for (unsigned i = 0; i < lanes.count; ++i) {
    const Thread& other = lanes.first[i];
    if ((mask >> i & 1) && !(other.state == Thread::waiting && other.in_warp)) return false;
  }
  return true;
}

// Computes the results of all lanes once all have arrived, and makes the lanes ready.
void exchange(const Lanes& lanes, const Thread& thread) {
  const unsigned mask = thread.mask;
  unsigned long long inputs[32] = {}, ballot = 0;
  for (unsigned i = 0; i < lanes.count; ++i) {
    inputs[i] = lanes.first[i].bits;
    if (mask >> i & 1) ballot |= (inputs[i] & 1) << i;
  }
  for (unsigned i = 0; i < lanes.count; ++i) {
    Thread& other = lanes.first[i];
    if (!(mask >> i & 1)) continue;
    if (other.op == WarpOp::ballot) other.bits = ballot;
    if (other.op == WarpOp::shuffle) {
      const auto source = static_cast<unsigned>(other.source);
      if (source >= 32 || !(mask >> source & 1)) {
        fail(describe(other) + " reads lane " + std::to_string(other.source) +
             ", which is not in the mask");
      }
      other.bits = inputs[source];
    }
    other.in_warp = false;
    other.state = Thread::ready;
  }
}

}  // namespace

unsigned lane() { return self().linear % 32; }

unsigned long long warp_operation(WarpOp op, unsigned mask, unsigned long long bits, int source,
                                  const Site& site) {
  Thread& thread = self();
  thread.site = site;
  thread.op = op;
  thread.mask = mask;
  thread.bits = bits;
  thread.source = source;
  const Lanes lanes;
  check_partners(lanes, thread);
  thread.in_warp = true;
  thread.state = Thread::waiting;
  if (all_arrived(lanes, mask)) exchange(lanes, thread);
  else let_others_run();
  return thread.bits;  // exchange() has replaced the input by the result
}

}  // namespace cuda_emulation
