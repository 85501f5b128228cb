#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/device.h"
#include "core/layout.h"

namespace trigram {

/// One direction of a connection: what a message of n bytes costs is latency + n / bandwidth.
struct LinkSpec {
  double bandwidth_Bps = 0;
  double latency_s = 0;
};

/// Rates that price the operations of a device: an operation takes the launch overhead plus the
/// larger of its memory time and its arithmetic time (the roofline model).
struct Accelerator {
  std::string name = "V100";
  double flops_per_s = 15.7e12;
  double memory_Bps = 900e9;
  double launch_overhead_s = 5e-6;
  double seconds(const Cost& cost) const;
};

/// A worker whose computation takes `factor` times as long as the others'.
struct SlowWorker {
  std::int64_t rank = 0;
  double factor = 1;
};

/// Workers that are held up for a while: so many in every step, drawn anew each time.
struct Stragglers {
  std::int64_t count = 0;
  double delay_s = 0;
  std::int64_t seed = 0;
};

/// A cluster as users describe it: nodes of equal workers, one full-duplex NIC per node shared by
/// its workers, a fabric inside the node with a full-duplex port per worker. The one description
/// from which simulated platforms and closed-form predictions are both made.
///
/// A message between nodes passes the two NICs and nothing else (the accelerators reach their NIC
/// beside the fabric, as with GPUDirect RDMA); a message inside a node passes the two ports. The
/// switches that join nodes and ports are never narrow.
struct Cluster {
  std::int64_t nodes = 1;
  std::int64_t workers_per_node = 1;
  LinkSpec intra{150e9, 5e-6};    // between workers of one node: each worker's port
  LinkSpec inter{12.5e9, 25e-6};  // between nodes: the NIC; latency is end to end
  Accelerator accelerator;
  std::vector<SlowWorker> slow_workers;
  Stragglers stragglers;
  double bandwidth_jitter = 0;  // NICs and ports differ by up to this fraction, drawn evenly
  std::int64_t jitter_seed = 0;

  Layout layout() const {
    return Layout(static_cast<int>(nodes), static_cast<int>(workers_per_node));
  }
  int ranks() const { return static_cast<int>(nodes * workers_per_node); }
  int node_of(int rank) const { return rank / static_cast<int>(workers_per_node); }

  /// Seconds from first byte sent to first byte received; 0 from a rank to itself.
  double latency(int source, int destination) const;
  /// Bytes per second, in each direction, of one node's NIC and of one worker's port.
  double nic_bandwidth(int node) const;
  double port_bandwidth(int rank) const;
  /// Bytes per second that a rank gives to messages to itself.
  double loopback_bandwidth() const { return accelerator.memory_Bps; }
  /// Bytes per second of the narrowest link between two ranks when nothing else uses it.
  double bandwidth(int source, int destination) const;
  /// Seconds that one message takes when nothing else uses its links.
  double message_time(int source, int destination, double nbytes) const;
};

/// The fields of a cluster description; `parse_cluster` also checks what fields alone cannot.
FieldTable<Cluster> cluster_fields();
Cluster parse_cluster(const Json& j, const std::string& pointer);

}  // namespace trigram
