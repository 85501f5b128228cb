#include <vector>

#include "algorithms/primitives/primitives.h"

namespace trigram {

void c_fp_s(Context ctx, const Tensor& x, AllreduceAlgorithm algorithm) {
  allreduce(ctx, x, Reduce::avg, algorithm);
}

void c_lp_s(Context ctx, const Tensor& x, Codec& codec) {
  const auto P = static_cast<std::size_t>(ctx.size()), self = static_cast<std::size_t>(ctx.rank());
  if (P == 1) return;
  Device& device = *ctx.device;
  const Tensor mine = x.part(self, P), decoded = device.empty_like(mine);

  std::vector<Tensor> outgoing, incoming, merged;
  for (std::size_t j = 0; j < P; ++j) {
    outgoing.push_back(codec.empty_wire(device, x.part(j, P)));
    incoming.push_back(codec.empty_wire(device, mine));
    codec.encode(outgoing[j], x.part(j, P));
  }
  pairwise_alltoall(ctx, outgoing, incoming);

  codec.decode(mine, incoming[0]);  // in rank order, whoever owns the chunk
  for (std::size_t j = 1; j < P; ++j) {
    codec.decode(decoded, incoming[j]);
    device.axpby(1, decoded, 1, mine);
  }
  device.axpby(1.0f / static_cast<float>(P), mine, 0, mine);

  merged = std::move(outgoing);  // the same sizes: chunk by chunk
  codec.encode(merged[self], mine);
  ring_allgather(ctx, merged);
  for (std::size_t j = 0; j < P; ++j) codec.decode(x.part(j, P), merged[j]);
}

}  // namespace trigram
