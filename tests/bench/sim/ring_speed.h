#pragma once

#include <cstddef>
#include <vector>

#include "netmodels/cluster.h"
#include "runtime/sim/sim_runtime.h"

namespace trigram::test {

/// The cost of a simulated ring: processor time, simulated time, messages.
struct RingRun {
  double cpu_s = 0;
  double simulated_s = 0;
  double messages = 0;
  double cost_s() const { return cpu_s / messages; }
};

/// The simulated ring: P - 1 steps of reduce-scatter, and P - 1 steps of allgather if `allgather`,
/// over `numel` phantom f32 elements, `rounds` times.
struct Ring {
  std::size_t numel = 0;
  bool allgather = true;
  int rounds = 1;
};

/// A flat cluster of `ranks` at 10 Gbit/s and 25 us, with links up to `jitter` faster or slower,
/// and an accelerator whose operations are free, since the hand-written program does not reduce.
Cluster ring_cluster(int ranks, double jitter = 0);

/// Runs of both programs that shared one processor in turns of a few milliseconds: a temporary
/// slowdown of the machine, such as other programs that use its caches, affects both equally.
struct Comparison {
  struct Pair {
    RingRun hand_written, full_stack;
  };
  std::vector<Pair> pairs;
  /// Messages per second of the full stack over those of the hand-written program, in the median
  /// pair.
  double speed_ratio() const;
  /// Medians, in seconds of processor time per message.
  double hand_written_cost_s() const;
  double full_stack_cost_s() const;
};

/// Compares the ring of algorithms/collectives over the whole stack (metering, timed device,
/// communicator) with a ring written by hand on SimGrid's S4U: one actor per rank, mailboxes looked
/// up once, receive posted before send, one wait for each; same engine settings, platform and
/// chunks. Messages are rendezvous (Transport::Protocol::rendezvous).
Comparison compare_rings(const Cluster& cluster, const Ring& ring, int pairs);

/// Runs only the full stack.
RingRun run_ring(const Cluster& cluster, const Ring& ring, const SimOptions& options);

}  // namespace trigram::test
