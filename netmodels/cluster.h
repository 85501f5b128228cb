#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/device.h"
#include "core/layout.h"
#include "netmodels/failures.h"
#include "netmodels/network/link_dynamics.h"
#include "netmodels/run_times.h"
#include "netmodels/topologies/topology_spec.h"
#include "netmodels/transport.h"

namespace trigram {

/// One direction of a connection: a message of n bytes takes latency + n / bandwidth.
struct LinkSpec {
  double bandwidth_Bps = 0;
  double latency_s = 0;
  Shaping shaping = {};
  std::vector<LinkChange> profile = {};  // in order of time
  Background background = {};
  double egress_price_per_GB = 0;  // US dollars per 1e9 bytes (netmodels/prices.h); 0: none
};

/// The fabric inside a node. Every worker has a full-duplex port. The latency is end to end.
enum class IntraKind { nvlink, pcie };
struct IntraSpec {
  double bandwidth_Bps = 0;
  double latency_s = 0;
  IntraKind kind = IntraKind::nvlink;  // ports into a crossbar, or into a host bridge
  double bridge_Bps = 0;               // bandwidth of the host bridge; 0: same as a port
  bool gpudirect = true;  // NICs access accelerator memory; false: host memory, through the bridge
  double bridge_bandwidth() const { return bridge_Bps > 0 ? bridge_Bps : bandwidth_Bps; }
  /// True if messages between nodes pass their workers' ports and both nodes' host bridges.
  bool staged() const { return kind == IntraKind::pcie && !gpudirect; }
};

/// Whether the workers of a node share one NIC.
enum class Nics { shared, per_worker };

/// The default FLOP rate and memory bandwidth of an accelerator: a V100 in single precision (NVIDIA
/// V100 data sheet).
inline constexpr double kV100FlopsPerS = 15.7e12, kV100MemoryBps = 900e9;

/// The rates of an accelerator, from which the times of its operations are computed. An operation
/// takes the launch overhead plus the larger of its memory time and its arithmetic time (the
/// roofline model). If a rate is given for the operation's kind, it takes the launch overhead plus
/// its memory traffic divided by that rate.
struct Accelerator {
  std::string name;                        // empty: unknown
  double flops_per_s = 0, memory_Bps = 0;  // 0: unknown
  double launch_overhead_s = 5e-6;
  /// Seconds from the end of an operation that the host waits for until the next launch. If
  /// negative, the launch overhead applies.
  double synchronize_overhead_s = -1;
  /// For each kind of operation, the rate of memory traffic, read and written, in bytes per second;
  /// 0: priced by the roofline model.
  double codec_Bps = 0, reduction_Bps = 0, copy_Bps = 0, host_Bps = 0;
  /// Factor on the time of computation while one of the worker's messages is in flight.
  double overlap_slowdown = 1;
  /// Electrical power in watts while it waits and while it computes; negative: unknown.
  double idle_watts = -1, busy_watts = -1;
  bool has_power() const { return busy_watts >= 0; }
  /// The given rates, or a V100's rates if none are given.
  double arithmetic_per_s() const { return flops_per_s > 0 ? flops_per_s : kV100FlopsPerS; }
  double traffic_Bps() const { return memory_Bps > 0 ? memory_Bps : kV100MemoryBps; }
  double seconds(const Cost& cost) const;
  /// The rate given for a kind of operations, or 0.
  double rate_Bps(Cost::Kind kind) const;
};

/// A worker whose computation takes `factor` times as long as on other workers.
struct SlowWorker {
  std::int64_t rank = 0;
  double factor = 1;
};

/// Workers that are delayed: `count` different workers, drawn anew for every step. If `independent`
/// is true, each worker instead draws `count` times from all workers and is delayed if it draws
/// itself. The mean number of delayed workers is then slightly below `count`, since a worker may
/// draw itself twice.
struct Stragglers {
  std::int64_t count = 0;
  double delay_s = 0;
  std::int64_t seed = 0;
  bool independent = false;
};

/// Delays of the workers before every step. They grow from worker to worker in equal increments,
/// from the smallest to the largest.
struct Skew {
  double smallest_s = 0, largest_s = 0;
  /// True: each rank has the delay that the next rank had in the step before. False: delays are
  /// fixed.
  bool rotates = true;
};

/// A cluster as users describe it: nodes of equal workers, full-duplex NICs, a topology that
/// connects them, and a fabric inside the node with a full-duplex port per worker. `make_network`
/// creates its network (netmodels/cluster_network.h).
///
/// A message between nodes passes two NICs and the topology, but not the fabric (accelerators reach
/// their NIC directly, as with GPUDirect RDMA). If it is staged in host memory, it also passes the
/// worker's port and the host bridge on both nodes. A message inside a node passes two ports, and
/// the host bridge if there is one.
struct Cluster {
  std::int64_t nodes = 1;
  std::int64_t workers_per_node = 1;
  IntraSpec intra{150e9, 5e-6};   // between workers of one node
  LinkSpec inter{12.5e9, 25e-6};  // NICs; the end-to-end latency without the topology's latency
  Nics nics = Nics::shared;
  TopologySpec topology;
  Transport transport;
  Accelerator accelerator;
  /// Variation between workers: the standard deviation of the logarithm of the time that they take
  /// for the same computation. The median worker takes the workload's own time.
  double worker_variation = 0;
  std::vector<SlowWorker> slow_workers;
  Stragglers stragglers;
  Skew skew;
  RunTimes run_times;
  Failures failures;
  double price_per_node_hour = 0;  // US dollars; 0: unknown
  /// Uniform variation of the bandwidths of NICs and ports, up to this fraction.
  double bandwidth_jitter = 0;
  std::int64_t jitter_seed = 0;
  /// The cluster of which this one is a part (netmodels/part_of_cluster.h), and the nodes of that
  /// cluster that this one consists of, in the order of its ranks. Null if the cluster is whole.
  std::shared_ptr<const Cluster> whole;
  std::vector<int> whole_nodes;

  /// The ranks and nodes of the cluster. The layout's fabric has the described bandwidths of NICs
  /// and ports, before jitter; if there is jitter, also the bandwidth of every NIC after it.
  Layout layout() const;
  AttachedNodes attached_nodes() const { return {nodes, inter.bandwidth_Bps}; }
  int ranks() const { return static_cast<int>(nodes * workers_per_node); }
  int node_of(int rank) const { return rank / static_cast<int>(workers_per_node); }
  /// The node and the rank in the whole cluster of a node and a rank of this one.
  int whole_node(int node) const {
    return whole ? whole_nodes[static_cast<std::size_t>(node)] : node;
  }
  int whole_rank(int rank) const {
    const auto workers = static_cast<int>(workers_per_node);
    return whole_node(rank / workers) * workers + rank % workers;
  }

  /// Bytes per second, in each direction, of a NIC and of one worker's port. NICs are counted by
  /// node, or by worker if each worker has its own NIC.
  double nic_bandwidth(int index) const;
  double port_bandwidth(int rank) const;
  /// Bytes per second for a rank's messages to itself.
  double loopback_bandwidth() const { return accelerator.traffic_Bps(); }
};

/// The fields of a cluster description. `parse_cluster` also checks relations between fields.
FieldTable<Cluster> cluster_fields();
Cluster parse_cluster(const Json& j, const std::string& pointer);

}  // namespace trigram
