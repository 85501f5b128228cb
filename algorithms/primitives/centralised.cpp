#include <vector>

#include "algorithms/primitives/primitives.h"

namespace trigram {

void c_fp_s(Context ctx, const Tensor& x, AllreduceAlgorithm algorithm) {
  allreduce(ctx, x, Reduce::avg, algorithm);
}

namespace {

/// The code of `x`, with what was lost before if there is a residual.
void encode(Device& device, Codec& codec, const Tensor& wire, const Tensor& x,
            const Tensor* residual) {
  if (residual) ErrorFeedback(device, codec, *residual).encode(wire, x);
  else codec.encode(wire, x);
}

}  // namespace

void c_lp_s(Context ctx, const Tensor& x, Codec& codec, const Feedback* feedback) {
  const auto P = static_cast<std::size_t>(ctx.size()), self = static_cast<std::size_t>(ctx.rank());
  if (P == 1) return;
  Device& device = *ctx.device;
  const Tensor mine = x.part(self, P), decoded = device.empty_like(mine);

  std::vector<Tensor> outgoing, incoming, merged;
  for (std::size_t j = 0; j < P; ++j) {
    outgoing.push_back(codec.empty_wire(device, x.part(j, P)));
    incoming.push_back(codec.empty_wire(device, mine));
    const Tensor residual = feedback ? feedback->worker.part(j, P) : Tensor{};
    encode(device, codec, outgoing[j], x.part(j, P), feedback ? &residual : nullptr);
  }
  pairwise_alltoall(ctx, outgoing, incoming);

  codec.decode(mine, incoming[0]);  // in rank order, whoever owns the chunk
  for (std::size_t j = 1; j < P; ++j) {
    codec.decode(decoded, incoming[j]);
    device.axpby(1, decoded, 1, mine);
  }
  device.axpby(1.0f / static_cast<float>(P), mine, 0, mine);

  merged = std::move(outgoing);  // the same sizes: chunk by chunk
  encode(device, codec, merged[self], mine, feedback ? &feedback->server : nullptr);
  ring_allgather(ctx, merged);
  for (std::size_t j = 0; j < P; ++j) codec.decode(x.part(j, P), merged[j]);
}

void c_lp_gather(Context ctx, const Tensor& x, Codec& codec, const Feedback* feedback) {
  const auto P = static_cast<std::size_t>(ctx.size()), self = static_cast<std::size_t>(ctx.rank());
  if (P == 1) return;
  std::vector<Tensor> codes;
  for (std::size_t j = 0; j < P; ++j) codes.push_back(codec.empty_wire(*ctx.device, x));
  encode(*ctx.device, codec, codes[self], x, feedback ? &feedback->worker : nullptr);
  ring_allgather(ctx, codes);
  const Tensor decoded = ctx.device->empty_like(x);
  codec.decode(x, codes[0]);
  for (std::size_t j = 1; j < P; ++j) {
    codec.decode(decoded, codes[j]);
    ctx.device->axpby(1, decoded, 1, x);
  }
  ctx.device->axpby(1.0f / static_cast<float>(P), x, 0, x);
}

}  // namespace trigram
