#include <memory>
#include <vector>

#include "algorithms/execution/hierarchy.h"
#include "algorithms/execution/parts.h"

namespace trigram {
namespace {

/// Begins the exchange of a copy of every part's weights, as far as the node leaders.
std::vector<std::shared_ptr<Work>> begin_gossip(Context ctx, Run& run, Stream& comm,
                                                std::span<const Tensor> rooms,
                                                const Exchange& exchange) {
  const Execution& execution = run.execution;
  Exchange up =
      execution.hierarchical ? among_leaders(exchange, execution.segment_bytes) : exchange;
  if (execution.synchronize) up = synchronized(std::move(up));
  std::vector<std::shared_ptr<Work>> pending;
  for (const Part& part : parts_of(run)) {
    const auto copy_and_exchange = [up, weights = part.weights](Context c, const Tensor& room,
                                                                Slot slot) {
      c.device->copy(room, weights);
      up(c, room, slot);
    };
    pending.push_back(begin_exchange(comm, ctx, run, rooms[static_cast<std::size_t>(part.index)],
                                     part.index, copy_and_exchange));
  }
  return pending;
}

/// Begins to bring every part's result from the leader's copy to the weights of all ranks.
std::vector<std::shared_ptr<Work>> begin_copy_back(Context ctx, Run& run, Stream& comm,
                                                   std::span<const Tensor> rooms) {
  const Execution& execution = run.execution;
  std::vector<std::shared_ptr<Work>> pending;
  for (const Part& part : parts_of(run)) {
    Exchange down = [execution, room = rooms[static_cast<std::size_t>(part.index)]](
                        Context c, const Tensor& weights, Slot slot) {
      const bool gets = execution.hierarchical && !c.layout->is_leader(c.world_rank);
      if (!gets) c.device->copy(weights, room);
      if (execution.hierarchical) from_leader(execution.segment_bytes)(c, weights, slot);
    };
    if (execution.synchronize) down = synchronized(std::move(down));
    pending.push_back(begin_exchange(comm, ctx, run, part.weights, part.index, down));
  }
  return pending;
}

void wait_for(Stream& stream, std::span<const std::shared_ptr<Work>> works) {
  for (const auto& work : works) stream.wait(*work);
}

}  // namespace

void gossip_step(Context ctx, Run& run, Stream& comm, const Tensor& exchanged,
                 const Exchange& exchange) {
  const std::vector<Tensor> rooms = cut_like_parts(run, exchanged);
  std::vector<std::shared_ptr<Work>> pending;
  if (run.execution.overlap) pending = begin_gossip(ctx, run, comm, rooms, exchange);
  compute_gradients(ctx, run);
  if (!run.execution.overlap) pending = begin_gossip(ctx, run, comm, rooms, exchange);
  wait_for(*ctx.stream, pending);
  if (run.execution.synchronize) wait_on_host(ctx);
  wait_for(*ctx.stream, begin_copy_back(ctx, run, comm, rooms));
  optimizer_step(ctx, run);
}

}  // namespace trigram
