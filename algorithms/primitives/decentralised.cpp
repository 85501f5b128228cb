#include <vector>

#include "algorithms/primitives/primitives.h"

namespace trigram {
namespace {

/// Sends `out` to every peer while what they send arrives in `in`, one tensor for each source.
void exchange(Context ctx, const Tensor& out, std::span<const Tensor> in, const Peers& peers) {
  std::vector<Transfer> batch;
  for (std::size_t i = 0; i < in.size(); ++i)
    batch.push_back({Transfer::recv, in[i], peers.receive_from[i].rank});
  for (int peer : peers.send_to) batch.push_back({Transfer::send, out, peer});
  if (!batch.empty()) ctx.comm->transfer(batch);
}

}  // namespace

void d_fp_s(Context ctx, const Tensor& x, const Peers& peers) {
  std::vector<Tensor> arrived;
  for (std::size_t i = 0; i < peers.receive_from.size(); ++i)
    arrived.push_back(ctx.device->empty_like(x));
  exchange(ctx, x, arrived, peers);
  float own = peers.self_weight;
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    ctx.device->axpby(peers.receive_from[i].weight, arrived[i], own, x);
    own = 1;
  }
}

void d_lp_s(Context ctx, const Tensor& x, const Peers& peers, Codec& codec) {
  const Tensor code = codec.empty_wire(*ctx.device, x), decoded = ctx.device->empty_like(x);
  std::vector<Tensor> arrived;
  for (std::size_t i = 0; i < peers.receive_from.size(); ++i)
    arrived.push_back(codec.empty_wire(*ctx.device, x));
  codec.encode(code, x);
  exchange(ctx, code, arrived, peers);
  codec.decode(decoded, code);
  ctx.device->axpby(peers.self_weight, decoded, 0, x);
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    codec.decode(decoded, arrived[i]);
    ctx.device->axpby(peers.receive_from[i].weight, decoded, 1, x);
  }
}

}  // namespace trigram
