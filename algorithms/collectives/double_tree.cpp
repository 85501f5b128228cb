#include "algorithms/collectives/double_tree.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "algorithms/collectives/point_to_point.h"
#include "algorithms/collectives/reduction.h"

namespace trigram {
namespace {

constexpr int kTrees = 2;

int lowest_bit(int v) { return v & -v; }

/// The neighbours of v in a tree over nodes 0 .. nodes-1 that is rooted at 0 and whose nodes are
/// not renumbered.
TreeNode plain_node(int v, int nodes) {
  TreeNode node;
  if (v == 0) {
    if (nodes > 1)
      node.children.push_back(static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes - 1))));
    return node;
  }
  const int low = lowest_bit(v), half = low / 2;
  const int right_parent = (v - low) | (2 * low);
  node.parent = right_parent < nodes ? right_parent : v - low;
  if (half > 0) node.children.push_back(v - half);
  for (int step = half; step > 0; step /= 2)
    if (v + step < nodes) {
      node.children.push_back(v + step);
      break;
    }
  return node;
}

int renamed(int tree, int node, int nodes) {
  if (tree == 0) return node;
  return nodes % 2 == 0 ? nodes - 1 - node : (node + nodes - 1) % nodes;
}

int original(int tree, int name, int nodes) {
  if (tree == 0) return name;
  return nodes % 2 == 0 ? nodes - 1 - name : (name + 1) % nodes;
}

int floor_lg(int v) { return static_cast<int>(std::bit_width(static_cast<unsigned>(v))) - 1; }

/// The positions of a communicator's ranks in the trees.
class Shape {
 public:
  explicit Shape(Context ctx) : workers_(1), nodes_(ctx.size()) {
    if (ctx.size() != ctx.layout->ranks()) return;
    nodes_ = static_cast<int>(ctx.layout->nodes().size());
    workers_ = ctx.size() / nodes_;
  }

  int nodes() const { return nodes_; }
  int workers() const { return workers_; }

  /// The rank's parent; -1 for the root.
  int parent(int tree, int rank) const {
    if (rank % workers_ > 0) return rank - 1;
    const int node = double_tree_node(tree, rank / workers_, nodes_).parent;
    return node < 0 ? -1 : node * workers_;
  }
  /// The next worker of the chain, then the first workers of the node's children.
  std::vector<int> children(int tree, int rank) const {
    std::vector<int> children;
    if (rank % workers_ + 1 < workers_) children.push_back(rank + 1);
    if (rank % workers_ == 0)
      for (const int node : double_tree_node(tree, rank / workers_, nodes_).children)
        children.push_back(node * workers_);
    return children;
  }
  /// The number of edges to the farthest rank below this one.
  int height(int tree, int rank) const {
    int height = 0;
    for (const int child : children(tree, rank))
      height = std::max(height, 1 + this->height(tree, child));
    return height;
  }
  int root(int tree) const { return original(tree, 0, nodes_) * workers_; }
  /// The number of edges to the root.
  int depth(int tree, int rank) const {
    int depth = 0;
    for (int up = parent(tree, rank); up >= 0; up = parent(tree, up)) ++depth;
    return depth;
  }

 private:
  int workers_, nodes_;
};

/// The traffic on one edge in one direction, as one rank sees it: chunk k is in stage first + k.
struct Flow {
  Transfer::Kind kind;
  int tree, peer;
  std::int64_t first;
  /// True: the received chunk is added to the rank's own chunk; false: it replaces the own chunk.
  bool adds = false;
  bool completes = false;  // the sum is complete after this addition
};

/// All flows of a rank. Both ends of a connection list its flows in the same order: first the flows
/// up the trees, then the flows down the trees, each in the order of the trees.
class Flows {
 public:
  Flows(const Shape& shape, int rank, std::int64_t ahead)
      : shape_(shape), rank_(rank), ahead_(ahead) {
    for (int tree = 0; tree < kTrees; ++tree) add_up(tree);
    for (int tree = 0; tree < kTrees; ++tree) add_down(tree);
  }
  const std::vector<Flow>& all() const { return flows_; }

 private:
  std::int64_t stage(int height) const { return height * (ahead_ + 1); }

  void add_up(int tree) {
    const int parent = shape_.parent(tree, rank_);
    std::size_t last = flows_.size();
    for (const int child : shape_.children(tree, rank_)) {
      const std::int64_t first = stage(shape_.height(tree, child)) + ahead_;
      if (flows_.size() == last || first >= flows_[last].first) last = flows_.size();
      flows_.push_back({Transfer::recv, tree, child, first, true});
    }
    if (parent < 0) flows_[last].completes = true;
    else flows_.push_back({Transfer::send, tree, parent, stage(shape_.height(tree, rank_))});
  }
  void add_down(int tree) {
    const int parent = shape_.parent(tree, rank_);
    const int above = shape_.height(tree, shape_.root(tree)) + shape_.depth(tree, rank_);
    if (parent >= 0) flows_.push_back({Transfer::recv, tree, parent, stage(above - 1) + ahead_});
    for (const int child : shape_.children(tree, rank_))
      flows_.push_back({Transfer::send, tree, child, stage(above)});
  }

  const Shape& shape_;
  int rank_;
  std::int64_t ahead_;
  std::vector<Flow> flows_;
};

/// Runs the stages of a rank, one batch each.
class Stages {
 public:
  Stages(Context ctx, const Tensor& x, Reduce op, const std::vector<Flow>& flows,
         std::size_t chunks)
      : ctx_(ctx), x_(x), op_(op), flows_(flows), chunks_(chunks) {
    const Tensor longest = longest_part(longest_part(x, kTrees), chunks);
    for (const Flow& flow : flows)
      if (flow.adds) scratch_.emplace_back(ctx, longest);
  }

  void run() {
    for (std::int64_t stage = next_from(0); stage < kNone; stage = next_from(stage + 1)) {
      batch_.clear();
      arriving_.clear();
      std::size_t next_scratch = 0;
      for (const Flow& flow : flows_) {
        const Scratch* scratch = flow.adds ? &scratch_[next_scratch++] : nullptr;
        if (active(flow, stage)) add(flow, chunk(flow, stage), scratch);
      }
      ctx_.comm->transfer(batch_);
      for (const Arriving& a : arriving_) {
        accumulate(ctx_, op_, a.arrived, a.chunk);
        if (a.completes) finish_reduction(ctx_, op_, a.chunk);
      }
    }
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  struct Arriving {
    Tensor arrived, chunk;
    bool completes;
  };

  std::int64_t end(const Flow& flow) const {
    return flow.first + static_cast<std::int64_t>(chunks_);
  }
  bool active(const Flow& flow, std::int64_t stage) const {
    return flow.first <= stage && stage < end(flow);
  }
  /// The first stage in which a flow is active, from `stage` on.
  std::int64_t next_from(std::int64_t stage) const {
    std::int64_t next = kNone;
    for (const Flow& flow : flows_)
      if (stage < end(flow)) next = std::min(next, std::max(stage, flow.first));
    return next;
  }
  Tensor chunk(const Flow& flow, std::int64_t stage) const {
    return x_.part(static_cast<std::size_t>(flow.tree), kTrees)
        .part(static_cast<std::size_t>(stage - flow.first), chunks_);
  }
  void add(const Flow& flow, const Tensor& chunk, const Scratch* scratch) {
    const Tensor moved = scratch ? scratch->like(chunk) : chunk;
    batch_.push_back({flow.kind, moved, flow.peer});
    if (scratch) arriving_.push_back({moved, chunk, flow.completes});
  }

  Context ctx_;
  Tensor x_;
  Reduce op_;
  const std::vector<Flow>& flows_;
  std::size_t chunks_;
  std::vector<Scratch> scratch_;  // one for each flow that adds
  std::vector<Transfer> batch_;
  std::vector<Arriving> arriving_;
};

}  // namespace

TreeNode double_tree_node(int tree, int node, int nodes) {
  TreeNode place = plain_node(renamed(tree, node, nodes), nodes);
  if (place.parent >= 0) place.parent = original(tree, place.parent, nodes);
  for (int& child : place.children) child = original(tree, child, nodes);
  return place;
}

std::size_t double_tree_chunk_bytes(std::size_t nbytes, int nodes, int workers) {
  constexpr std::size_t kSlot = (std::size_t{4} << 20) / 8, kKiB = 1024;
  const auto depth = static_cast<std::size_t>(workers - 1 + floor_lg(nodes));
  std::size_t chunk = kSlot;
  const auto shrink = [&](std::size_t chunks_per_level, std::size_t least) {
    while (chunk > least && nbytes / (kTrees * chunk) < chunks_per_level * depth) chunk /= 2;
  };
  shrink(8, 128 * kKiB);
  shrink(4, 64 * kKiB);
  shrink(1, 32 * kKiB);
  return chunk;
}

namespace {

/// The number of messages of `chunk_bytes` by which ranks can run ahead without waiting, even if
/// the flows of both trees, up and down, use the same connection.
std::int64_t most_ahead(Context ctx, std::size_t chunk_bytes) {
  constexpr std::int64_t kFlows = 4;
  return std::max<std::int64_t>(ctx.comm->buffered(chunk_bytes) / kFlows - 1, 0);
}

}  // namespace

void double_tree_allreduce(Context ctx, const Tensor& x, Reduce op, const DoubleTree& options) {
  if (ctx.size() == 1) return;
  const Shape shape(ctx);
  const std::size_t chunk_bytes =
      options.chunk_bytes > 0
          ? options.chunk_bytes
          : double_tree_chunk_bytes(x.priced_nbytes(), shape.nodes(), shape.workers());
  const std::int64_t ahead = options.ahead.value_or(most_ahead(ctx, chunk_bytes));
  const Flows flows(shape, ctx.rank(), ahead);
  Stages(ctx, x, op, flows.all(), parts_within(longest_part(x, kTrees), chunk_bytes)).run();
}

}  // namespace trigram
