#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/context.h"

namespace trigram {

enum class NcclAlgorithm { tree, ring };
/// How NCCL moves bytes: with a flag in every word (LL) or every 128 bytes (LL128), which saves
/// latency and costs bandwidth, or plainly (Simple).
enum class NcclProtocol { ll, ll128, simple };

/// What NCCL does not read from the machine here, but users may know.
struct NcclOptions {
  /// Bytes per second of a NIC as NCCL reads it from the system, where that is not the cluster's
  /// bandwidth: a shaped network is slower than its NICs say.
  std::optional<double> nic_Bps;
  /// Ten times the compute capability of the GPUs: 70 for a V100, 80 for an A100.
  std::int64_t compute_capability = 70;
  bool operator==(const NcclOptions&) const = default;
};

/// The ranks of an allreduce and the machine, as NCCL's cost model sees them.
struct NcclView {
  int nodes = 1;
  int workers = 1;        // of each node
  double node_Bps = 0;    // NICs of a node together
  double worker_Bps = 0;  // between workers of a node
  bool nvlink = true;     // inside nodes; PCIe otherwise
  std::int64_t compute_capability = 70;
  int ranks() const { return nodes * workers; }
};

/// The view of the ranks of ctx.comm: nodes, workers and speeds are those of ctx.layout where all
/// of its ranks take part. Ranks of a subset count as nodes of their own, each with a NIC.
NcclView nccl_view(const Context& ctx, const NcclOptions& options);

/// Seconds that NCCL's cost model gives for an allreduce of `nbytes`: latency + bytes / bandwidth.
///
/// The model and its constants are those of NVIDIA/nccl at 5067397c (June 2026): the constants of
/// src/graph/tuning.cc and what `ncclTopoGetAlgoTime` makes of them. It knows nothing of the
/// network's real latency, so an added delay changes no choice. Simplified here:
/// - a channel's bandwidth times the number of channels is the slower of a node's NICs and a
///   worker's port; NCCL searches the topology for it and rounds it to steps of its own;
/// - the limits per channel and per GPU generation, which bind above 20 GB/s, are left out;
/// - NCCL uses LL128 where GPUs have NVLink and their NICs are on the same PCIe switch. The switch
///   is not described, so NVLink decides.
double nccl_time_s(const NcclView& view, NcclAlgorithm algorithm, NcclProtocol protocol,
                   std::size_t nbytes);

/// The faster algorithm for `nbytes` by the least of `nccl_time_s` over the protocols.
NcclAlgorithm nccl_choice(const NcclView& view, std::size_t nbytes);

}  // namespace trigram
