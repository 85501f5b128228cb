#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/context.h"

namespace trigram {

enum class NcclAlgorithm { tree, ring };
/// NCCL's protocols. LL has a flag in every word and LL128 in every 128 bytes, which saves latency
/// and costs bandwidth. Simple has no flags.
enum class NcclProtocol { ll, ll128, simple };

/// Inputs of NCCL's cost model that this program cannot read from the machine.
struct NcclOptions {
  /// Bytes per second of a NIC as NCCL reads it from the system, if that differs from the cluster's
  /// bandwidth: a shaped network is slower than the nominal speed of its NICs.
  std::optional<double> nic_Bps;
  /// Ten times the compute capability of the GPUs: 70 for a V100, 80 for an A100.
  std::int64_t compute_capability = 70;
  bool operator==(const NcclOptions&) const = default;
};

/// The ranks of an allreduce and the machine, as NCCL's cost model sees them.
struct NcclView {
  int nodes = 1;
  int workers = 1;        // workers per node
  double node_Bps = 0;    // all NICs of a node together
  double worker_Bps = 0;  // between two workers of a node
  bool nvlink = true;     // workers of a node are connected by NVLink; false: by PCIe
  std::int64_t compute_capability = 70;
  int ranks() const { return nodes * workers; }
};

/// The view for the ranks of ctx.comm. If all ranks of ctx.layout take part, nodes, workers and
/// speeds are those of the layout. Otherwise every rank counts as a node with one NIC.
NcclView nccl_view(const Context& ctx, const NcclOptions& options);

/// The seconds that NCCL's cost model predicts for an allreduce of `nbytes`: latency + bytes /
/// bandwidth.
///
/// The model and its constants are those of NVIDIA/nccl at 5067397c (June 2026): the constants of
/// src/graph/tuning.cc and their use in `ncclTopoGetAlgoTime`. The model does not include the
/// network's real latency, so an added delay changes no choice. Simplifications:
/// - The bandwidth of all channels together is taken as that of the node's NICs or of a worker's
///   port, whichever is slower. NCCL finds it by a search and rounds it to fixed steps.
/// - The limits per channel and per GPU generation, which apply above 20 GB/s, are left out.
/// - NCCL uses LL128 if GPUs have NVLink and their NICs are on the same PCIe switch. The switch is
///   not described here, so NVLink alone decides.
double nccl_time_s(const NcclView& view, NcclAlgorithm algorithm, NcclProtocol protocol,
                   std::size_t nbytes);

/// The algorithm with the smaller `nccl_time_s` for `nbytes`, each with its best protocol.
NcclAlgorithm nccl_choice(const NcclView& view, std::size_t nbytes);

}  // namespace trigram
