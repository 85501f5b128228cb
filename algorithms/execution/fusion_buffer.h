#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "algorithms/execution/exchange.h"
#include "core/config/option_type.h"

namespace trigram {

/// When buckets that are ready are exchanged together, and how many of them.
struct FusionCycle {
  std::size_t buffer_bytes = 64u << 20;  // a fused exchange is no longer, but for a longer bucket
  double cycle_s = 5e-3;                 // from the start of a cycle to that of the next, at least
  std::int64_t negotiations = 1;         // small allreduces in which a cycle's ranks agree
};

/// The option "fusion_buffer": none where it is absent or null.
OptionType<std::optional<FusionCycle>> fusion_buffer_kind();

/// Exchanges of gradients that fuse what is ready (Horovod's tensor fusion, arXiv 1802.05799).
/// While an iteration has buckets that are not exchanged yet, a rank runs one cycle after another:
/// in each all ranks agree on how many buckets are ready on all of them, and exchange these in as
/// few pieces as fit the buffer. A cycle begins when the cycle time has passed since the rank's
/// last cycle began and the negotiation of that one is over, as in Horovod's `RunLoopOnce`; no
/// clock is shared.
///
/// The negotiation is a recursive-doubling allreduce on the control plane, lg P latencies. It is
/// what Horovod's ranks do once their response cache knows all tensors: a bitwise AND over one bit
/// per tensor (`CacheCoordinator::sync`), which an OR follows when entries have become invalid.
///
/// So what is fused depends on time, and with it the order in which sums are added up: weights of
/// two worlds agree but for rounding. All ranks issue the same exchanges in the same order.
class FusionBuffer {
 public:
  /// Collective, at start-up. What `run` refers to outlives the buffer.
  FusionBuffer(Context ctx, Run& run, const FusionCycle& cycle, Exchange exchange);
  ~FusionBuffer();

  /// One iteration: forward, backward, exchanges, and, when all of them are back, the optimizer.
  void step(Context ctx);

 private:
  struct Agent;
  Run& run_;
  std::shared_ptr<Agent> agent_;
  // Closed in the reverse order: the later ones call the earlier ones.
  std::unique_ptr<Stream> comm_, negotiation_, ready_;
};

}  // namespace trigram
