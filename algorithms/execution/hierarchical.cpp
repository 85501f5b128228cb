#include "algorithms/collectives/collectives.h"
#include "algorithms/execution/execution.h"

namespace trigram {
namespace {

/// How many pieces a tensor goes in; 1: whole.
int segments_of(const Tensor& x, std::size_t segment_bytes) {
  if (segment_bytes == 0) return 1;
  return static_cast<int>((x.priced_nbytes() + segment_bytes - 1) / segment_bytes);
}

}  // namespace

void reduce_in_node(Context node, const Tensor& x, std::size_t segment_bytes) {
  const int segments = segments_of(x, segment_bytes);
  if (segments > 1) pipelined_reduce(node, x, Reduce::avg, 0, segments);
  else binomial_reduce(node, x, Reduce::avg, 0);
}

void broadcast_in_node(Context node, const Tensor& x, std::size_t segment_bytes) {
  const int segments = segments_of(x, segment_bytes);
  if (segments > 1) pipelined_broadcast(node, x, 0, segments);
  else binomial_broadcast(node, x, 0);
}

Exchange hierarchical(Exchange exchange, std::size_t segment_bytes) {
  return [exchange = std::move(exchange), segment_bytes](Context ctx, const Tensor& x, Slot slot) {
    Subset node(*ctx.comm, ctx.layout->node_members(ctx.world_rank));
    reduce_in_node(ctx.with(node), x, segment_bytes);
    if (ctx.layout->is_leader(ctx.world_rank)) {
      Subset leaders(*ctx.comm, ctx.layout->leaders());
      exchange(ctx.with(leaders), x, slot);
    }
    broadcast_in_node(ctx.with(node), x, segment_bytes);
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
  if (execution.hierarchical) exchange = hierarchical(std::move(exchange), execution.segment_bytes);
  return execution.synchronize ? synchronized(std::move(exchange)) : exchange;
}

Exchanging exchanging(const Execution& execution, const Layout& layout) {
  if (execution.hierarchical)
    return {static_cast<int>(layout.nodes().size()), "nodes (it is hierarchical)"};
  return {layout.ranks(), "workers"};
}

}  // namespace trigram
