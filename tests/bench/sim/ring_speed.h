#pragma once

#include <cstddef>
#include <vector>

#include "netmodels/cluster.h"
#include "runtime/sim/sim_runtime.h"

namespace trigram::test {

/// How a ring was simulated: processor time spent, simulated time, messages.
struct RingRun {
  double cpu_s = 0;
  double simulated_s = 0;
  double messages = 0;
  double cost_s() const { return cpu_s / messages; }
};

/// What is simulated: P - 1 steps of reduce-scatter, and again P - 1 of allgather if `allgather`,
/// over `numel` phantom f32 elements, `rounds` times.
struct Ring {
  std::size_t numel = 0;
  bool allgather = true;
  int rounds = 1;
};

/// Flat `ranks` at 10 Gbit/s and 25 us, links up to `jitter` faster or slower; an accelerator whose
/// operations cost nothing, since the program written by hand does not reduce.
Cluster ring_cluster(int ranks, double jitter = 0);

/// Runs of both programs that shared one processor in turns of a few milliseconds: what slows a
/// machine down for a while, such as neighbours that fill its caches, strikes both alike.
struct Comparison {
  struct Pair {
    RingRun hand_written, full_stack;
  };
  std::vector<Pair> pairs;
  /// Messages per second of the full stack over those of the program written by hand, in the median
  /// pair.
  double speed_ratio() const;
  /// Medians, in seconds of processor time per message.
  double hand_written_cost_s() const;
  double full_stack_cost_s() const;
};

/// Compares the ring of algorithms/collectives over the whole stack (metering, timed device,
/// communicator) with one written by hand on SimGrid's S4U: an actor per rank, mailboxes looked up
/// once, receive posted before send, one wait for each; same engine settings, platform, chunks.
/// Both sides of a message meet (Transport::Protocol::rendezvous).
Comparison compare_rings(const Cluster& cluster, const Ring& ring, int pairs);

/// The full stack alone.
RingRun run_ring(const Cluster& cluster, const Ring& ring, const SimOptions& options);

}  // namespace trigram::test
