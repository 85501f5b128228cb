#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/oracles/cost_model.h"

// The double binary tree of Sanders, Speck and Traeff in NCCL's construction, built range by range
// from its description, and the duration of an allreduce over it.

namespace trigram::test {

/// The parent of each of `nodes` nodes in tree 0 or 1; -1 for the root.
std::vector<int> double_tree_parents(int tree, int nodes);

/// The number of chunks of each half of `nbytes` by NCCL's rule for trees, for nodes of `workers`
/// workers.
std::size_t double_tree_chunks(std::size_t nbytes, int nodes, int workers);

/// The order in which the schedule of an allreduce and its transport move messages.
struct TreeTransport {
  std::int64_t ahead = 0;  // number of chunks by which a rank's sends are ahead of its receives
  bool eager = false;      // bytes flow as soon as they are sent; false: once the receive is posted
  bool waits_sent = false;  // a batch also waits until its sent messages have arrived
  bool in_order = false;    // a connection carries one message after another, as TCP does
};

/// The duration in seconds of an allreduce of n f32 elements in `chunks` chunks for each tree,
/// between P ranks, each on its own node. Simulates all messages through ports that are shared
/// max-min fairly.
double double_tree_allreduce_s(const CostModel& c, int P, std::size_t n, bool average,
                               std::size_t chunks, const TreeTransport& transport);

}  // namespace trigram::test
