#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/context.h"

namespace trigram {

/// A node's neighbours in a binary tree over nodes 0 .. nodes-1.
struct TreeNode {
  int parent = -1;  // -1: the root
  std::vector<int> children;
};

/// The place of `node` in tree 0 or 1 of a double binary tree over `nodes` nodes (Sanders, Speck
/// and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
/// Computing 35(12), 2009), in NCCL's construction (src/graph/trees.cc).
///
/// Tree 0: node 0 is the root, with one child. Below it, the root of a range of nodes is the node
/// that is divisible by the largest power of two, and the nodes on either side of it are its
/// subtrees. So odd nodes are leaves, and the height is ceil(lg nodes). Tree 1 is the mirror image
/// (node n-1-v for v) where the number of nodes is even, and tree 0 shifted by one where it is odd.
/// Every node is a leaf in one of the trees, but for node 0 of an odd number, which has one child
/// in both.
TreeNode double_tree_node(int tree, int node, int nodes);

/// Options of a double binary tree.
struct DoubleTree {
  /// Longest chunk, in priced bytes; 0: by NCCL's rule, `double_tree_chunk_bytes`.
  std::size_t chunk_bytes = 0;
  /// Messages by which a rank runs ahead of the ranks that it sends to: it sends as many before it
  /// waits for something that depends on them. At most what the transport takes of one rank's
  /// messages to another before that one receives the first of them, less one; a part of that where
  /// both trees pass the same connection. Where nothing is given it is a quarter of what the world
  /// buffers (Communicator::buffered), less one: 0 where a send waits for its receiver. Sums do not
  /// depend on it, nor do the messages, only when they leave.
  std::optional<std::int64_t> ahead = {};
};

/// Bytes of a chunk as NCCL chooses them for the protocol Simple: one of the 8 slots of a 4 MiB
/// buffer, halved down to 32 KiB while there are few chunks for the depth of the trees, (workers
/// - 1) + floor(lg nodes) (src/enqueue.cc, tree depth in src/graph/connect.cc; two channels, one
/// for each tree). `nbytes` is the length of the whole vector.
std::size_t double_tree_chunk_bytes(std::size_t nbytes, int nodes, int workers);

/// Allreduce over a pipelined double binary tree: each tree carries half of the vector, in C
/// chunks, which are reduced up the tree and broadcast down again from its root.
///
/// The trees are over nodes. The first worker of a node is its member in both of them; the workers
/// of a node form a chain to it. That is known where all ranks of the layout take part; ranks of a
/// subset count as nodes of their own. On one node both trees are the chain.
///
/// A rank sends and receives the chunks of each edge in order, one at a time, and all that it can
/// do at a time is one batch. Stages number its batches: on an edge from a rank of height h (0 for
/// one without children), chunk k leaves in stage k + h (A + 1) of the sender, and arrives in the
/// A-th stage after that of the receiver, A being `ahead`. The root takes the next height, and
/// each edge down one more.
///
/// Time on a flat network of P ranks, a node each, for trees of height h = ceil(lg P) and chunks of
/// c bytes, n = 2 C c:
///
///   ahead = 0:      (C + 2 h - 1) a exactly for empty messages, where a send waits for its
///                   receiver; about (C + 2 h - 1)(a + 4 c b) for long vectors
///   ahead >= C:     2 h a exactly for empty messages, where a send is over when it is buffered;
///                   about 2 h (a + 2 c b) + 2 n b for long vectors, and up to a third more than
///                   2 n b where bytes matter most, since a rank's messages share its port
///
/// So latency is paid once for each chunk in step, and once for each level where ranks run ahead.
/// A node's first worker sends n bytes up and at most n down to other nodes, and n along its chain;
/// every other worker passes n up and n down. All ranks together send 4 (P - 1) C messages.
///
/// Sums: a rank adds the chunk of its chain first, then those of its children, lower subtrees
/// first, the first child before the second.
void double_tree_allreduce(Context ctx, const Tensor& x, Reduce op, const DoubleTree& options = {});

}  // namespace trigram
