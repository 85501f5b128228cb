#include "algorithms/execution/hierarchy.h"

#include "algorithms/collectives/collectives.h"
#include "algorithms/collectives/point_to_point.h"
#include "core/subset.h"

namespace trigram {
namespace {

std::vector<Tensor> segments_of(std::span<const Tensor> xs, std::size_t segment_bytes) {
  std::vector<Tensor> segments;
  for (const Tensor& x : xs)
    for (const Tensor& part : parts(x, parts_within(x, segment_bytes))) segments.push_back(part);
  return segments;
}

}  // namespace

void reduce_in_node(Context node, const Tensor& x, std::size_t segment_bytes) {
  const auto segments = static_cast<int>(parts_within(x, segment_bytes));
  if (segments > 1) pipelined_reduce(node, x, Reduce::avg, 0, segments);
  else binomial_reduce(node, x, Reduce::avg, 0);
}

void broadcast_in_node(Context node, const Tensor& x, std::size_t segment_bytes) {
  const auto segments = static_cast<int>(parts_within(x, segment_bytes));
  if (segments > 1) pipelined_broadcast(node, x, 0, segments);
  else binomial_broadcast(node, x, 0);
}

void reduce_in_node(Context node, std::span<const Tensor> xs, std::size_t segment_bytes) {
  if (segment_bytes > 0)
    return pipelined_reduce(node, segments_of(xs, segment_bytes), Reduce::avg, 0);
  for (const Tensor& x : xs) binomial_reduce(node, x, Reduce::avg, 0);
}

void broadcast_in_node(Context node, std::span<const Tensor> xs, std::size_t segment_bytes) {
  if (segment_bytes > 0) return pipelined_broadcast(node, segments_of(xs, segment_bytes), 0);
  for (const Tensor& x : xs) binomial_broadcast(node, x, 0);
}

Exchange among_leaders(Exchange exchange, std::size_t segment_bytes) {
  return [exchange = std::move(exchange), segment_bytes](Context ctx, const Tensor& x, Slot slot) {
    Subset node(*ctx.comm, ctx.layout->node_members(ctx.world_rank));
    reduce_in_node(ctx.with(node), x, segment_bytes);
    if (!ctx.layout->is_leader(ctx.world_rank)) return;
    // If every node has one worker, the leaders are all workers, and there is no hierarchy.
    const bool flat = ctx.layout->ranks() == static_cast<int>(ctx.layout->nodes().size());
    Subset leaders(*ctx.comm, ctx.layout->leaders(),
                   flat ? TrafficClass::collective : TrafficClass::leaders);
    exchange(ctx.with(leaders), x, slot);
  };
}

Exchange from_leader(std::size_t segment_bytes) {
  return [segment_bytes](Context ctx, const Tensor& x, Slot) {
    Subset node(*ctx.comm, ctx.layout->node_members(ctx.world_rank));
    broadcast_in_node(ctx.with(node), x, segment_bytes);
  };
}

Exchange hierarchical(Exchange exchange, std::size_t segment_bytes) {
  return [up = among_leaders(std::move(exchange), segment_bytes),
          down = from_leader(segment_bytes)](Context ctx, const Tensor& x, Slot slot) {
    up(ctx, x, slot);
    down(ctx, x, slot);
  };
}

Exchange inside_nodes(const Execution& execution, Exchange exchange) {
  Exchange inside = [exchange = std::move(exchange)](Context ctx, const Tensor& x, Slot slot) {
    Subset node(*ctx.comm, ctx.layout->node_members(ctx.world_rank));
    exchange(ctx.with(node), x, slot);
  };
  return execution.synchronize ? synchronized(std::move(inside)) : inside;
}

Exchange across(const Execution& execution, Exchange exchange) {
  if (execution.hierarchical) exchange = hierarchical(std::move(exchange), execution.segment_bytes);
  return execution.synchronize ? synchronized(std::move(exchange)) : exchange;
}

}  // namespace trigram
