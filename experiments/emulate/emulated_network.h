#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace trigram {

/// What the kernel is to emulate: nodes, joined by a switch that is never narrow.
struct EmulatedNetwork {
  int nodes = 1, workers_per_node = 1;
  std::vector<double> nic_Bps;  // of each node, in each direction; payload
  double latency_s = 0;         // from end to end; 0 where the ranks add it
  double loss = 0;              // share of packets
  /// TCP of the nodes. Where it is not described, connections are tuned to fill the links.
  Tcp tcp = {};
  bool operator==(const EmulatedNetwork&) const = default;
};

/// Of a run in the world mpi, as its options say what the kernel makes of it. Throws ConfigError
/// when the cluster's network, or the run, is one that cannot be emulated.
EmulatedNetwork emulated_network(const Experiment& experiment);

/// Whether this kernel has netem, which delays and drops packets. Uses a namespace for it.
bool kernel_has_netem();

/// The namespaces of a network and what joins them, made by this process and named after it. Each
/// node is a namespace; the switch is another, so that the machine's own is not touched.
class KernelNetwork {
 public:
  explicit KernelNetwork(const EmulatedNetwork& network);
  ~KernelNetwork();
  KernelNetwork(const KernelNetwork&) = delete;
  KernelNetwork& operator=(const KernelNetwork&) = delete;

  /// The namespace of the switch, from which all nodes can be reached.
  static std::string switch_namespace();
  /// All nodes' addresses, as networks are written.
  static std::string subnet();
  /// The address of a node, which is the last part of the name of its namespace, too.
  static std::string address(int node);
};

}  // namespace trigram
