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
  /// The number of messages by which a rank runs ahead of its receivers. It must be smaller than
  /// the number of messages that the transport buffers on a connection; if both trees use the same
  /// connection, their flows share these buffers. Default: a quarter of the number of messages that
  /// the world buffers (Communicator::buffered), minus one; 0 if a send waits for its receiver. The
  /// option affects neither the sums nor the messages, only the times at which messages are sent.
  std::optional<std::int64_t> ahead = {};
};

/// The chunk size in bytes that NCCL chooses for the protocol Simple. It starts at the size of one
/// of the 8 slots of a 4 MiB buffer. It is halved, down to 32 KiB, while there are few chunks for
/// the depth of the trees, which is (workers - 1) + floor(lg nodes) (src/enqueue.cc, tree depth in
/// src/graph/connect.cc; there are two channels, one for each tree). `nbytes` is the length of the
/// whole vector.
std::size_t double_tree_chunk_bytes(std::size_t nbytes, int nodes, int workers);

/// Allreduce over a pipelined double binary tree: each tree carries half of the vector, in C
/// chunks, which are reduced up the tree and broadcast down again from its root.
///
/// The trees connect nodes. The first worker of a node is the node's member in both trees, and the
/// other workers of the node form a chain to it. This holds if all ranks of the layout take part;
/// otherwise every rank counts as a node. If there is only one node, both trees are the chain.
///
/// A rank works in numbered stages, with one batch of transfers in each. On every edge it sends or
/// receives the chunks in order, at most one per stage. Let A be `ahead`. On the way up, a rank
/// whose subtree has height h (0 for a leaf) sends chunk k in its stage k + h (A + 1). Its parent
/// receives the chunk in stage k + h (A + 1) + A. The way down continues this numbering: for the
/// edges from the root, h is the height of the tree, and h grows by one with each level below.
///
/// Time on a flat network of P ranks, each on its own node, for trees of height h = ceil(lg P) and
/// chunks of c bytes, n = 2 C c:
///
///   ahead = 0:      (C + 2 h - 1) a exactly for empty messages, where a send waits for its
///                   receiver; about (C + 2 h - 1)(a + 4 c b) for long vectors
///   ahead >= C:     2 h a exactly for empty messages, where a send is over when it is buffered;
///                   about 2 h (a + 2 c b) + 2 n b for long vectors, and up to a third more than
///                   2 n b if bytes dominate, since a rank's messages share its port
///
/// So latency is paid once per chunk if ahead is 0, and once per level if ranks run ahead.
/// The first worker of a node sends n bytes up and at most n bytes down to other nodes, and n bytes
/// along its chain; every other worker passes n bytes up and n bytes down. All ranks together send
/// 4 (P - 1) C messages.
///
/// Order of sums: a rank first adds the chunk of its chain, then the chunks of its children: lower
/// subtrees first and, among subtrees of equal height, the first child first.
void double_tree_allreduce(Context ctx, const Tensor& x, Reduce op, const DoubleTree& options = {});

}  // namespace trigram
