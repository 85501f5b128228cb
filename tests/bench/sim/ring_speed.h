#pragma once

#include <cstddef>
#include <vector>

#include "netmodels/cluster.h"
#include "runtime/sim/sim_runtime.h"

namespace trigram::test {

/// The run of a simulated ring: processor time, simulated time, and number of messages.
struct RingRun {
  double cpu_s = 0;
  double simulated_s = 0;
  double messages = 0;
  /// Processor time per message.
  double cost_s() const { return cpu_s / messages; }
};

/// The simulated ring: P - 1 steps of reduce-scatter, and P - 1 steps of allgather if `allgather`,
/// over `numel` phantom f32 elements, `rounds` times.
struct Ring {
  std::size_t numel = 0;
  bool allgather = true;
  int rounds = 1;
};

/// A flat cluster of `ranks` ranks at 10 Gbit/s and 25 us, with links that are up to `jitter`
/// faster or slower. The operations of its accelerator are free, because the hand-written program
/// does not reduce.
Cluster ring_cluster(int ranks, double jitter = 0);

/// Pairs of runs of both programs. The two runs of a pair share one processor, which alternates
/// between them every few milliseconds. So a slow period of the machine, for example because other
/// programs use its caches, affects both equally.
struct Comparison {
  struct Pair {
    RingRun hand_written, full_stack;
  };
  std::vector<Pair> pairs;
  /// The median over pairs of the full stack's messages per second, divided by the hand-written
  /// program's.
  double speed_ratio() const;
  /// Medians, in seconds of processor time per message.
  double hand_written_cost_s() const;
  double full_stack_cost_s() const;
};

/// Compares the ring of algorithms/collectives over the whole stack (metering, timed device,
/// communicator) with a ring written by hand on SimGrid's S4U. The hand-written program has one
/// actor per rank, looks mailboxes up once, and in every step posts the receive, then the send, and
/// waits for both. Both programs have the same engine settings, platform and chunks. Messages are
/// rendezvous messages (Transport::Protocol::rendezvous).
Comparison compare_rings(const Cluster& cluster, const Ring& ring, int pairs);

/// Runs only the full stack.
RingRun run_ring(const Cluster& cluster, const Ring& ring, const SimOptions& options);

}  // namespace trigram::test
