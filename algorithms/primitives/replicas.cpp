#include "algorithms/primitives/replicas.h"

#include <fmt/format.h>

#include "algorithms/primitives/primitives.h"

namespace trigram {
namespace {

Peers fixed_peers(Context ctx, const Execution& execution, const PeerGraphSpec& spec) {
  const auto graph = make_peer_graph(spec);
  const int size = participants(execution, *ctx.layout).count;
  if (!execution.hierarchical) return graph->peers(ctx.world_rank, size, 0);
  if (!ctx.layout->is_leader(ctx.world_rank)) return {};
  return graph->peers(ctx.layout->node_of(ctx.world_rank), size, 0);
}

}  // namespace

Replicas::Replicas(Context ctx, Run& run, const PeerGraphSpec& graph, const Tensor& weights,
                   int part)
    : peers_(fixed_peers(ctx, run.execution, graph)) {
  const TrainingState state = run.state.child(fmt::format("replicas {}", part));
  own_ = state.copy_of(ctx, "own", weights);
  for (std::size_t i = 0; i < peers_.receive_from.size(); ++i)
    peer_replicas_.push_back(state.copy_of(ctx, fmt::format("source {}", i), weights));
}

void Replicas::add_mixed(Context ctx, float a, const Tensor& y) const {
  ctx.device->axpby(a * peers_.self_weight, own_, 1, y);
  for (std::size_t i = 0; i < peer_replicas_.size(); ++i)
    ctx.device->axpby(a * peers_.receive_from[i].weight, peer_replicas_[i], 1, y);
}

void Replicas::advance(Context ctx, const Tensor& z, Codec& codec, Update update) {
  const Tensor code = codec.empty_wire(*ctx.device, z), decoded = ctx.device->empty_like(z);
  codec.encode(code, z);
  const std::vector<Tensor> arrived = exchange_with(ctx, code, peers_);
  const auto add = [&](const Tensor& replica, const Tensor& wire) {
    codec.decode(decoded, wire);
    ctx.device->axpby(update.gain, decoded, update.kept, replica);
  };
  add(own_, code);
  for (std::size_t i = 0; i < peer_replicas_.size(); ++i) add(peer_replicas_[i], arrived[i]);
}

}  // namespace trigram
