#pragma once

#include <cstddef>
#include <span>

#include "algorithms/execution/exchange.h"

// Hierarchical execution: ranks reduce inside their node, node leaders exchange, and each leader
// broadcasts the result inside its node (BAGUA, arXiv 2107.01499, section 3).

namespace trigram {

/// Computes the mean over a node's workers at its leader; `node` is the context of these workers. A
/// tensor longer than `segment_bytes` travels as a chain of segments of that size. Shorter tensors,
/// and all tensors if `segment_bytes` is 0, use a binomial tree.
void reduce_in_node(Context node, const Tensor& x, std::size_t segment_bytes);
/// Copies the leader's x to all workers of its node, in the same way.
void broadcast_in_node(Context node, const Tensor& x, std::size_t segment_bytes);
/// The same for several tensors, whose segments form one chain; or, without segments, one tree
/// after another.
void reduce_in_node(Context node, std::span<const Tensor> xs, std::size_t segment_bytes);
void broadcast_in_node(Context node, std::span<const Tensor> xs, std::size_t segment_bytes);

/// Averages inside the node, runs `exchange` between node leaders, and broadcasts inside the node.
Exchange hierarchical(Exchange exchange, std::size_t segment_bytes = 0);
/// The first two phases of `hierarchical`. The leader has the result; the content of x at other
/// workers is unspecified.
Exchange among_leaders(Exchange exchange, std::size_t segment_bytes);
/// The third phase of `hierarchical`.
Exchange from_leader(std::size_t segment_bytes);

/// `exchange` among the workers of each node, followed by a wait of the host if `synchronize` is
/// set.
Exchange inside_nodes(const Execution& execution, Exchange exchange);

/// `exchange` as the options in `execution` demand: made hierarchical if `hierarchical` is set, and
/// followed by a wait of the host if `synchronize` is set.
Exchange across(const Execution& execution, Exchange exchange);

}  // namespace trigram
