#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/device.h"
#include "core/layout.h"
#include "netmodels/network/link_dynamics.h"
#include "netmodels/run_times.h"
#include "netmodels/topologies/topology_spec.h"
#include "netmodels/transport.h"

namespace trigram {

/// One direction of a connection: what a message of n bytes costs is latency + n / bandwidth.
struct LinkSpec {
  double bandwidth_Bps = 0;
  double latency_s = 0;
  Shaping shaping = {};
  std::vector<LinkChange> profile = {};  // in order of time
  Background background = {};
};

/// The fabric inside a node: a full-duplex port per worker, the latency end to end.
enum class IntraKind { nvlink, pcie };
struct IntraSpec {
  double bandwidth_Bps = 0;
  double latency_s = 0;
  IntraKind kind = IntraKind::nvlink;  // ports into a crossbar, or to a host bridge
  double bridge_Bps = 0;               // of the host bridge; 0: that of a port
  bool gpudirect =
      true;  // NICs read and write accelerators' memory; else the host's, by the bridge
  double bridge_bandwidth() const { return bridge_Bps > 0 ? bridge_Bps : bandwidth_Bps; }
  /// Messages between nodes pass the ports of their workers and the host bridges of both nodes.
  bool staged() const { return kind == IntraKind::pcie && !gpudirect; }
};

/// Whether the workers of a node share one NIC.
enum class Nics { shared, per_worker };

/// The rates of arithmetic and of memory of an accelerator that does not say them: a V100's, single
/// precision (NVIDIA V100 data sheet).
inline constexpr double kV100FlopsPerS = 15.7e12, kV100MemoryBps = 900e9;

/// Rates that price the operations of a device: an operation takes the
/// launch overhead plus the larger of its memory time and its arithmetic time (the roofline model),
/// or its memory traffic at the rate that is given for its kind.
struct Accelerator {
  std::string name;                        // empty: nobody says
  double flops_per_s = 0, memory_Bps = 0;  // 0: nobody says
  double launch_overhead_s = 5e-6;
  /// Seconds from the end of an operation that the host waits for until it has begun the next;
  /// negative: the launch overhead.
  double synchronize_overhead_s = -1;
  /// Bytes of memory, read and written, per second that operations of a kind pass; where 0, the
  /// roofline model prices them.
  double codec_Bps = 0, reduction_Bps = 0, copy_Bps = 0, host_Bps = 0;
  /// Computation takes so many times as long while a message of its worker is under way.
  double overlap_slowdown = 1;
  /// What operations are priced at: the rates that are given, else a V100's.
  double arithmetic_per_s() const { return flops_per_s > 0 ? flops_per_s : kV100FlopsPerS; }
  double traffic_Bps() const { return memory_Bps > 0 ? memory_Bps : kV100MemoryBps; }
  double seconds(const Cost& cost) const;
  /// The rate that is given for a kind of operations, or 0.
  double rate_Bps(Cost::Kind kind) const;
};

/// A worker whose computation takes `factor` times as long as the others'.
struct SlowWorker {
  std::int64_t rank = 0;
  double factor = 1;
};

/// Workers that are held up for a while: `count` different ones in every step, drawn anew each
/// time. If `independent`, each worker makes `count` draws of one among all, and is held up where
/// it draws itself: a little fewer than `count` in the mean, since one may draw itself twice.
struct Stragglers {
  std::int64_t count = 0;
  double delay_s = 0;
  std::int64_t seed = 0;
  bool independent = false;
};

/// Workers that are held up before every step, each by another time, from the smallest to the
/// largest in equal steps.
struct Skew {
  double smallest_s = 0, largest_s = 0;
  bool rotates = true;  // the next rank has this rank's place in the next step; else ranks keep it
};

/// A cluster as users describe it: nodes of equal workers, full-duplex NICs, a topology that joins
/// them, a fabric inside the node with a full-duplex port per worker. `make_network` makes the
/// graph of it (netmodels/cluster_network.h).
///
/// A message between nodes passes two NICs and the topology, not the fabric (the accelerators reach
/// their NIC beside it, as with GPUDirect RDMA), unless it is staged in the memory of the hosts:
/// then it passes the port of its worker and the host bridge at either end. A message inside a node
/// passes two ports, and the host bridge where there is one.
struct Cluster {
  std::int64_t nodes = 1;
  std::int64_t workers_per_node = 1;
  IntraSpec intra{150e9, 5e-6};   // between workers of one node
  LinkSpec inter{12.5e9, 25e-6};  // between nodes: the NIC; latency is end to end, less topology's
  Nics nics = Nics::shared;
  TopologySpec topology;
  Transport transport;
  Accelerator accelerator;
  /// How unlike workers are: the standard deviation of the logarithm of the time that each takes
  /// for the same computation; the workload's own time is the median worker's.
  double worker_variation = 0;
  std::vector<SlowWorker> slow_workers;
  Stragglers stragglers;
  Skew skew;
  RunTimes run_times;
  double bandwidth_jitter = 0;  // NICs and ports differ by up to this fraction, drawn evenly
  std::int64_t jitter_seed = 0;

  /// Its fabric has the described bandwidths of NICs and ports, before jitter.
  Layout layout() const {
    const auto workers = static_cast<int>(workers_per_node);
    return Layout(static_cast<int>(nodes), workers,
                  {.nic_Bps = inter.bandwidth_Bps,
                   .nics_per_node = nics == Nics::per_worker ? workers : 1,
                   .worker_Bps = intra.bandwidth_Bps,
                   .nvlink = intra.kind == IntraKind::nvlink});
  }
  AttachedNodes attached_nodes() const { return {nodes, inter.bandwidth_Bps}; }
  int ranks() const { return static_cast<int>(nodes * workers_per_node); }
  int node_of(int rank) const { return rank / static_cast<int>(workers_per_node); }

  /// Bytes per second, in each direction, of a NIC (of a node, or of a worker if each has its own)
  /// and of one worker's port.
  double nic_bandwidth(int index) const;
  double port_bandwidth(int rank) const;
  /// Bytes per second that a rank gives to messages to itself.
  double loopback_bandwidth() const { return accelerator.traffic_Bps(); }
};

/// The fields of a cluster description; `parse_cluster` also checks what fields alone cannot.
FieldTable<Cluster> cluster_fields();
Cluster parse_cluster(const Json& j, const std::string& pointer);

}  // namespace trigram
