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

/// The neighbours of `node` in tree 0 or 1 of a double binary tree over `nodes` nodes (Sanders,
/// Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
/// Parallel Computing 35(12), 2009), in NCCL's construction (src/graph/trees.cc).
///
/// Tree 0: node 0 is the root and has one child. Below it, the root of a range of nodes is the node
/// that is divisible by the largest power of two, and its subtrees are the nodes on either side. So
/// odd nodes are leaves, and the height is ceil(lg nodes). Tree 1 is the mirror image of tree 0
/// (node n-1-v takes the place of v) if the number of nodes is even, and tree 0 shifted by one if
/// it is odd. Every node is a leaf in one of the trees; the exception is node 0 of an odd number of
/// nodes, which has one child in both.
TreeNode double_tree_node(int tree, int node, int nodes);

/// Options of a double binary tree.
struct DoubleTree {
  /// Longest chunk, in priced bytes; 0: the chunk size of NCCL's rule, `double_tree_chunk_bytes`.
  std::size_t chunk_bytes = 0;
  /// The number of messages that a rank sends before it waits for a message that depends on them.
  /// The rank runs ahead of its receivers by so many messages. The maximum is one less than the
  /// number of messages that the transport accepts from one rank to another before the receiver
  /// takes the first; if both trees use the same connection, they share this number. Default: a
  /// quarter of the number of messages that the world buffers (Communicator::buffered), minus one;
  /// 0 if a send waits for its receiver. The option affects neither the sums nor the messages, only
  /// the times at which messages are sent.
  std::optional<std::int64_t> ahead = {};
};

/// The chunk size in bytes that NCCL chooses for the protocol Simple. It is that of the 8 slots of
/// a 4 MiB buffer, but is halved, down to 32 KiB, while there are few chunks for the depth of the
/// trees, (workers - 1) + floor(lg nodes) (src/enqueue.cc, tree depth in src/graph/connect.cc;
/// there are two channels, one for each tree). `nbytes` is the length of the whole vector.
std::size_t double_tree_chunk_bytes(std::size_t nbytes, int nodes, int workers);

/// Allreduce over a pipelined double binary tree: each tree carries half of the vector, in C
/// chunks, which are reduced up the tree and broadcast down again from its root.
///
/// The trees connect nodes. The first worker of a node is the node's member in both trees, and the
/// other workers of the node form a chain to it. This holds if all ranks of the layout take part;
/// otherwise every rank counts as a node. If there is only one node, both trees are the chain.
///
/// A rank sends and receives the chunks of each edge in order, one at a time, and does everything
/// that it can do at the same time in one batch. Its batches are numbered, as stages: on an edge
/// from a rank of height h (0 for a rank without children), chunk k leaves in stage k + h (A + 1)
/// of the sender and arrives in the receiver's A-th stage after that, where A is `ahead`. For the
/// way down, the root counts as one height above its own, and every edge down adds one more.
///
/// Time on a flat network of P ranks, each on a node of its own, for trees of height h = ceil(lg P)
/// and chunks of c bytes, n = 2 C c:
///
///   ahead = 0:      (C + 2 h - 1) a exactly for empty messages, where a send waits for its
///                   receiver; about (C + 2 h - 1)(a + 4 c b) for long vectors
///   ahead >= C:     2 h a exactly for empty messages, where a send is over when it is buffered;
///                   about 2 h (a + 2 c b) + 2 n b for long vectors, and up to a third more than
///                   2 n b where bytes matter most, since a rank's messages share its port
///
/// So latency is paid once per chunk if ranks run in step, and once per level if ranks run ahead.
/// The first worker of a node sends n bytes up and at most n bytes down to other nodes, and n bytes
/// along its chain; every other worker passes n bytes up and n bytes down. All ranks together send
/// 4 (P - 1) C messages.
///
/// Order of sums: a rank first adds the chunk of its chain, then those of its children: lower
/// subtrees first, and the first child before the second.
void double_tree_allreduce(Context ctx, const Tensor& x, Reduce op, const DoubleTree& options = {});

}  // namespace trigram
