#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace trigram {

/// The network that the kernel emulates: nodes connected by a switch that is never a bottleneck.
struct EmulatedNetwork {
  int nodes = 1, workers_per_node = 1;
  std::vector<double> nic_Bps;  // payload bytes per second of each node's NIC in each direction
  double latency_s = 0;         // seconds, end to end; 0 if the ranks add the latency
  double loss = 0;              // fraction of packets that are lost
  /// The TCP of the nodes. If the cluster does not describe it (!tcp.has_window()), connections are
  /// tuned so that they fill the links.
  Tcp tcp = {};
  bool operator==(const EmulatedNetwork&) const = default;
};

/// The network of a run in the world mpi. The run's options say which of its properties the kernel
/// emulates. Throws ConfigError if the network or the run cannot be emulated.
EmulatedNetwork emulated_network(const Experiment& experiment);

/// True if this kernel has netem, which delays and drops packets. The test creates a namespace.
bool kernel_has_netem();

/// The namespaces of an emulated network and the links between them. This process creates them, and
/// their names contain its id. Each node is a namespace. The switch is another namespace, so that
/// the machine's own namespace is not changed.
class KernelNetwork {
 public:
  explicit KernelNetwork(const EmulatedNetwork& network);
  ~KernelNetwork();
  KernelNetwork(const KernelNetwork&) = delete;
  KernelNetwork& operator=(const KernelNetwork&) = delete;

  /// The namespace of the switch, from which all nodes can be reached.
  static std::string switch_namespace();
  /// The addresses of all nodes in CIDR notation.
  static std::string subnet();
  /// The address of a node. It is also the last part of the name of the node's namespace.
  static std::string address(int node);
};

}  // namespace trigram
