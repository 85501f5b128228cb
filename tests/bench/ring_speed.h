#pragma once

#include <cstddef>

#include "netmodels/cluster.h"

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

/// The ring written by hand on SimGrid's S4U: an actor per rank, mailboxes looked up once, receive
/// posted before send, one wait for each. Same engine settings, same platform, same chunks.
RingRun hand_written_ring(const Cluster& cluster, const Ring& ring);

/// The ring of algorithms/collectives over the whole stack: metering, timed device, communicator.
RingRun full_stack_ring(const Cluster& cluster, const Ring& ring);

/// Flat `ranks` at 10 Gbit/s and 25 us, links up to `jitter` faster or slower; an accelerator whose
/// operations cost nothing, since the program written by hand does not reduce.
Cluster ring_cluster(int ranks, double jitter = 0);

struct Comparison {
  RingRun hand_written, full_stack;
  /// Messages per second of the full stack over those of the program written by hand.
  double speed_ratio() const { return hand_written.cost_s() / full_stack.cost_s(); }
};
/// The fastest of `repeats` runs of each, taken in turns; starts from the fastest known so far.
Comparison compare_rings(const Cluster& cluster, const Ring& ring, int repeats,
                         Comparison best = {});

}  // namespace trigram::test
