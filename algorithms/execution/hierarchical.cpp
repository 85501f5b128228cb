#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/execution.h"

namespace trigram {

Exchange hierarchical(Exchange exchange) {
  return [exchange = std::move(exchange)](Context ctx, const Tensor& x, Slot slot) {
    Subset node(*ctx.comm, ctx.layout->node_members(ctx.world_rank));
    binomial_reduce(ctx.with(node), x, Reduce::avg, 0);
    if (ctx.layout->is_leader(ctx.world_rank)) {
      Subset leaders(*ctx.comm, ctx.layout->leaders());
      exchange(ctx.with(leaders), x, slot);
    }
    binomial_broadcast(ctx.with(node), x, 0);
  };
}

Exchange synchronized(Exchange exchange) {
  return [exchange = std::move(exchange)](Context ctx, const Tensor& x, Slot slot) {
    exchange(ctx, x, slot);
    ctx.stream->synchronize();
    ctx.stream->charge({.bytes = 1, .kind = Cost::Kind::synchronization});
  };
}

Exchange across(const Execution& execution, Exchange exchange) {
  if (execution.hierarchical) exchange = hierarchical(std::move(exchange));
  return execution.synchronize ? synchronized(std::move(exchange)) : exchange;
}

Exchanging exchanging(const Execution& execution, const Layout& layout) {
  if (execution.hierarchical)
    return {static_cast<int>(layout.nodes().size()), "nodes (it is hierarchical)"};
  return {layout.ranks(), "workers"};
}

}  // namespace trigram
