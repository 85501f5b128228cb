#pragma once

#include <vector>

namespace trigram {

/// The machine's hardware as a communication library detects it at start-up: the nominal speeds of
/// devices, in bytes per second in each direction. Messages are slower than that.
struct Fabric {
  double nic_Bps = 12.5e9;
  int nics_per_node = 1;
  double worker_Bps = 150e9;          // between two workers of a node
  bool nvlink = true;                 // workers of a node are connected by NVLink; false: by PCIe
  std::vector<double> nics_Bps = {};  // of every NIC, node by node, if NICs differ; otherwise empty
};

/// Which ranks share a node. The first rank of a node is its leader.
class Layout {
 public:
  Layout() = default;
  /// `nodes` x `workers_per_node` ranks, numbered node by node.
  Layout(int nodes, int workers_per_node, const Fabric& fabric = {}) : fabric_(fabric) {
    int rank = 0;
    for (int node = 0; node < nodes; ++node) {
      auto& members = nodes_.emplace_back();
      leaders_.push_back(rank);
      for (int local = 0; local < workers_per_node; ++local) {
        members.push_back(rank++);
        node_of_.push_back(node);
      }
    }
  }

  int ranks() const { return static_cast<int>(node_of_.size()); }
  int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  bool same_node(int a, int b) const { return node_of(a) == node_of(b); }
  /// The ranks of the node of `rank`, leader first.
  const std::vector<int>& node_members(int rank) const {
    return nodes_[static_cast<std::size_t>(node_of(rank))];
  }
  const std::vector<std::vector<int>>& nodes() const { return nodes_; }
  const std::vector<int>& leaders() const { return leaders_; }
  bool is_leader(int rank) const { return node_members(rank).front() == rank; }
  /// The hardware, the same on all ranks; that of the default cluster if no machine is described.
  const Fabric& fabric() const { return fabric_; }

 private:
  std::vector<std::vector<int>> nodes_;
  std::vector<int> node_of_;
  std::vector<int> leaders_;
  Fabric fabric_;
};

}  // namespace trigram
