#include <vector>

#include "algorithms/collectives/point_to_point.h"
#include "algorithms/primitives/bandwidth_shares.h"
#include "algorithms/primitives/primitives.h"

namespace trigram {

std::vector<Tensor> empty_wires(Context ctx, const Codec& codec, const Tensor& x,
                                std::size_t count) {
  // The sizes are asked for once: an exchange of thousands of ranks has millions of wires.
  const std::size_t bytes = codec.wire_bytes(x.numel());
  const std::size_t priced = codec.priced_bytes(x.priced_numel());
  std::vector<Tensor> wires(count);
  for (Tensor& wire : wires) wire = ctx.device->empty(bytes, DType::u8, priced);
  return wires;
}

void c_fp_s(Context ctx, const Tensor& x, const AllreduceSpec& algorithm) {
  allreduce(ctx, x, Reduce::avg, algorithm);
}

namespace {

/// Encodes each of `xs`. With residuals, first adds the earlier loss of each code.
void encode(Device& device, Codec& codec, std::span<const Tensor> wires, std::span<const Tensor> xs,
            std::span<const Tensor> residuals) {
  if (residuals.empty()) codec.encode_each(wires, xs);
  else codec.encode_each_with_feedback(device, wires, xs, residuals);
}

}  // namespace

void c_lp_s(Context ctx, const Tensor& x, Codec& codec, SecondPhase phase2,
            const Feedback* feedback) {
  const auto P = static_cast<std::size_t>(ctx.size()), self = static_cast<std::size_t>(ctx.rank());
  if (P == 1) return;
  Device& device = *ctx.device;
  const std::vector<Tensor> chunks = parts(x, P);
  const Tensor& own = chunks[self];

  std::vector<Tensor> outgoing, merged;
  for (const Tensor& chunk : chunks) outgoing.push_back(codec.empty_wire(device, chunk));
  const std::vector<Tensor> incoming = empty_wires(ctx, codec, own, P);
  encode(device, codec, outgoing, chunks,
         feedback ? parts(feedback->worker, P) : std::vector<Tensor>{});
  direct_alltoall(ctx, outgoing, incoming);

  merged = std::move(outgoing);  // the sizes are equal, chunk by chunk
  // Sums are in rank order, whichever rank owns the chunk.
  codec.encode_mean(device, merged[self], incoming, own, feedback ? &feedback->server : nullptr);
  if (phase2 == SecondPhase::direct) direct_allgather(ctx, merged);
  else ring_allgather(ctx, merged);
  codec.decode_each(chunks, merged);
}

namespace {

/// A segment of the vector in `c_lp_s_by_share`, cut into the chunks of the ranks.
struct Segment {
  Segment(Context ctx, const Tensor& x, Codec& codec, std::span<const double> shares)
      : chunks(parts_by_share(x, shares)) {
    const Tensor& own = chunks[static_cast<std::size_t>(ctx.rank())];
    for (const Tensor& chunk : chunks) outgoing.push_back(codec.empty_wire(*ctx.device, chunk));
    incoming = empty_wires(ctx, codec, own, chunks.size());
  }
  std::vector<Tensor> chunks;
  // The codes of the rank's own chunks and, after the mean is encoded, the codes of the means.
  std::vector<Tensor> outgoing;
  std::vector<Tensor> incoming;  // codes of all ranks for the rank's own chunk
};

}  // namespace

void c_lp_s_by_share(Context ctx, const Tensor& x, Codec& codec, std::span<const double> shares,
                     const Feedback* feedback) {
  if (ctx.size() == 1) return;
  const auto self = static_cast<std::size_t>(ctx.rank());
  Device& device = *ctx.device;
  std::vector<Segment> segments;
  for (const Tensor& segment : parts(x, kScatterSegments))
    segments.emplace_back(ctx, segment, codec, shares);
  std::vector<Tensor> residuals;  // of the ranks' own codes, by segment
  if (feedback) residuals = parts(feedback->worker, kScatterSegments);
  std::size_t summed_numel = 0;  // elements that this rank has averaged
  for (std::size_t s = 0; s <= kScatterSegments; ++s) {
    Segment* const next = s < kScatterSegments ? &segments[s] : nullptr;
    Segment* const summed = s > 0 ? &segments[s - 1] : nullptr;
    if (next)
      encode(device, codec, next->outgoing, next->chunks,
             feedback ? parts_by_share(residuals[s], shares) : std::vector<Tensor>{});
    direct_alltoall_and_allgather(ctx, next ? next->outgoing : std::vector<Tensor>{},
                                  next ? next->incoming : std::vector<Tensor>{},
                                  summed ? summed->outgoing : std::vector<Tensor>{});
    if (summed) codec.decode_each(summed->chunks, summed->outgoing);
    if (!next) break;
    const Tensor& own = next->chunks[self];
    Tensor residual;
    if (feedback) residual = feedback->server.slice(summed_numel, own.numel(), own.priced_numel());
    codec.encode_mean(device, next->outgoing[self], next->incoming, own,
                      feedback ? &residual : nullptr);
    summed_numel += own.numel();
  }
}

Feedback feedback_by_share(Context ctx, const Tensor& x, std::span<const double> shares,
                           const TrainingState& state) {
  std::size_t numel = 0, priced_numel = 0;
  for (const Tensor& segment : parts(x, kScatterSegments)) {
    const Tensor own = parts_by_share(segment, shares)[static_cast<std::size_t>(ctx.rank())];
    numel += own.numel();
    priced_numel += own.priced_numel();
  }
  return Feedback(ctx, x, x.slice(0, numel, priced_numel), state);
}

void c_lp_gather(Context ctx, const Tensor& x, Codec& codec, const Tensor* residual) {
  const auto P = static_cast<std::size_t>(ctx.size()), self = static_cast<std::size_t>(ctx.rank());
  if (P == 1) return;
  const std::vector<Tensor> codes = empty_wires(ctx, codec, x, P);
  encode(*ctx.device, codec, {&codes[self], 1}, {&x, 1},
         residual ? std::span(residual, 1) : std::span<const Tensor>{});
  ring_allgather(ctx, codes);
  codec.decode_mean(*ctx.device, x, codes);
}

void c_lp_ring(Context ctx, const Tensor& x, Codec& codec) {
  const int P = ctx.size(), r = ctx.rank(), left = (r + P - 1) % P, right = (r + 1) % P;
  if (P == 1) return;
  Device& device = *ctx.device;
  const std::vector<Tensor> chunks = parts(x, static_cast<std::size_t>(P));
  std::vector<Tensor> codes;
  for (const Tensor& chunk : chunks) codes.push_back(codec.empty_wire(device, chunk));
  const auto of = [&](int part) { return static_cast<std::size_t>((part + P) % P); };
  // Rank r sends part r - 1 first, so that rank r completes the sum of part r.
  for (int s = 1; s < P; ++s) {
    const std::size_t out = of(r - s), in = of(r - s - 1);
    codec.encode(codes[out], chunks[out]);
    send_receive(ctx, codes[out], right, codes[in], left);
    const Tensor arrived = device.empty_like(chunks[in]);
    codec.decode(arrived, codes[in]);
    device.axpby(1, arrived, 1, chunks[in]);
  }
  const Tensor& own = chunks[of(r)];
  device.axpby(1 / static_cast<float>(P), own, 0, own);
  codec.encode(codes[of(r)], own);
  ring_allgather(ctx, codes);
  codec.decode_each(chunks, codes);
}

void c_lp_tree(Context ctx, const Tensor& x, Codec& codec, const Tensor* residual) {
  if (ctx.size() == 1) return;
  Device& device = *ctx.device;
  const Tensor wire = codec.empty_wire(device, x), decoded = device.empty_like(x);
  Tensor own;  // decoded value of the rank's own code
  if (residual) device.axpby(1, *residual, 1, x);
  codec.encode(wire, x);
  if (residual) {
    device.copy(*residual, x);
    own = device.empty_like(x);
    codec.decode(own, wire);
  }
  binomial_reduce(ctx, wire, 0, [&](const Tensor& arrived) {
    codec.decode(x, wire);
    codec.decode(decoded, arrived);
    device.axpby(1, decoded, 1, x);
    codec.encode(wire, x);
  });
  binomial_broadcast(ctx, wire, 0);
  codec.decode(x, wire);
  if (residual) {
    device.nn().relu_grad(x, own);  // 0 where the last code has no element
    device.axpby(-1, own, 1, *residual);
  }
  device.axpby(1.0f / static_cast<float>(ctx.size()), x, 0, x);
}

}  // namespace trigram
