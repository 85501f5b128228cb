#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "algorithms/execution/exchange.h"
#include "core/config/option_type.h"

namespace trigram {

/// When ready buckets are exchanged together, and how many of them.
struct FusionCycle {
  /// Longest fused exchange, in bytes, unless one bucket is longer.
  std::size_t buffer_bytes = 64u << 20;
  /// Least time from the start of a cycle to the start of the next, in seconds.
  double cycle_s = 5e-3;
  std::int64_t negotiations = 1;  // number of small allreduces by which the ranks agree in a cycle
};

/// The option "fusion_buffer": empty if it is absent or null.
OptionType<std::optional<FusionCycle>> fusion_buffer_kind();

/// Exchanges of gradients that fuse the buckets that are ready (Horovod's tensor fusion, arXiv
/// 1802.05799). While an iteration has buckets that are not exchanged yet, a rank runs cycles. In
/// each cycle all ranks agree on the number of buckets that are ready on all of them, and exchange
/// these buckets in as few pieces as fit the buffer. A cycle begins when the cycle time has passed
/// since the rank's last cycle began and the last cycle's negotiation is over, as in Horovod's
/// `RunLoopOnce`. Ranks do not share a clock.
///
/// The negotiation is a recursive-doubling allreduce on the control plane, which takes lg P
/// latencies. It corresponds to the negotiation of Horovod's ranks once their response cache knows
/// all tensors: a bitwise AND over one bit per tensor (`CacheCoordinator::sync`), followed by an OR
/// if entries have become invalid.
///
/// The fusion therefore depends on time, and so does the order of sums: the weights in two worlds
/// are equal only up to rounding. All ranks issue the same exchanges in the same order.
class FusionBuffer {
 public:
  /// Collective, at start-up. `exchange` is made hierarchical if the run is (`across`). Everything
  /// that `run` refers to must outlive the buffer.
  FusionBuffer(Context ctx, Run& run, const FusionCycle& cycle, Exchange exchange);
  ~FusionBuffer();

  /// One iteration: forward, backward, the exchanges and, after all of them, the optimizer.
  void step(Context ctx);

 private:
  class Negotiation;
  struct NegotiationState;
  Run& run_;
  std::shared_ptr<NegotiationState> state_;
  // Destroyed in reverse order, since a later stream submits to an earlier one.
  std::unique_ptr<Stream> comm_, negotiation_, ready_;
};

}  // namespace trigram
