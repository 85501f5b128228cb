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

/// Bytes of payload a second that each node's NIC moves in each direction.
std::vector<double> nic_bandwidths(const Cluster& cluster);

/// Messages of two ranks that go both ways share a connection, on which what is short, such as
/// MPI's own answers, must not wait behind a whole message: it goes in fragments that take some 1
/// ms.
std::size_t fragment_bytes(const std::vector<double>& nic_Bps);
/// What of a message's own is in a fragment, with MPI's header, that MPI sends without asking.
std::size_t eager_bytes(const std::vector<double>& nic_Bps);

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
