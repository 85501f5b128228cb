#include <vector>

#include "algorithms/primitives/primitives.h"

namespace trigram {

std::vector<Tensor> exchange_with(Context ctx, const Tensor& out, const Peers& peers) {
  std::vector<Tensor> arrived;
  std::vector<Transfer> batch;
  for (const Peers::Source& source : peers.receive_from) {
    arrived.push_back(ctx.device->empty_like(out));
    batch.push_back({Transfer::recv, arrived.back(), source.rank, TrafficClass::point_to_point});
  }
  for (int peer : peers.send_to)
    batch.push_back({Transfer::send, out, peer, TrafficClass::point_to_point});
  if (!batch.empty()) ctx.comm->transfer(batch);
  return arrived;
}

void d_fp_s(Context ctx, const Tensor& x, const Peers& peers) {
  const std::vector<Tensor> arrived = exchange_with(ctx, x, peers);
  float own = peers.self_weight;
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    ctx.device->axpby(peers.receive_from[i].weight, arrived[i], own, x);
    own = 1;
  }
}

void d_lp_s(Context ctx, const Tensor& x, const Peers& peers, Codec& codec) {
  const Tensor code = codec.empty_wire(*ctx.device, x), decoded = ctx.device->empty_like(x);
  codec.encode(code, x);
  const std::vector<Tensor> arrived = exchange_with(ctx, code, peers);
  codec.decode(decoded, code);
  ctx.device->axpby(peers.self_weight, decoded, 0, x);
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    codec.decode(decoded, arrived[i]);
    ctx.device->axpby(peers.receive_from[i].weight, decoded, 1, x);
  }
}

void push_sum(Context ctx, const Tensor& x, const Peers& peers) {
  ctx.device->axpby(1 / static_cast<float>(peers.send_to.size() + 1), x, 0, x);
  for (const Tensor& arrived : exchange_with(ctx, x, peers)) ctx.device->axpby(1, arrived, 1, x);
}

void sum_of_sent(Context ctx, const Tensor& x, const Peers& peers) {
  const std::vector<Tensor> arrived = exchange_with(ctx, x, peers);
  ctx.device->fill(x, 0);
  for (const Tensor& received : arrived) ctx.device->axpby(1, received, 1, x);
}

}  // namespace trigram
