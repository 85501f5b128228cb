#include "cuda/codecs/minmax_uint8.h"

#include <algorithm>
#include <array>

#include "core/check.h"
#include "core/codec.h"
#include "cuda/codecs/registry.h"
#include "cuda/codecs/tables.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::minmax_uint8 {
namespace {

constexpr std::array<unsigned, 4> kClusterSizes = {1, 2, 4, kMaxCluster};  // in blocks

/// Number of clusters of `kClusterSizes[i]` blocks that run concurrently.
unsigned resident(std::size_t i) {
  static const auto counts = [] {
    std::array<unsigned, kClusterSizes.size()> result{};
    std::ranges::transform(kClusterSizes, result.begin(), resident_clusters);
    return result;
  }();
  return counts[i];
}

/// The index in kClusterSizes of the smallest cluster that holds `numel` elements;
/// kClusterSizes.size() if there is none.
std::size_t smallest_for(std::uint64_t numel) {
  const std::uint64_t padded = (numel + 31) / 32 * 32;
  std::size_t i = 0;
  while (i < kClusterSizes.size() &&
         (resident(i) == 0 || padded > kClusterSizes[i] * kBlockCapacity))
    ++i;
  return i;
}

}  // namespace

EncodingPlan plan_encoding(const std::vector<Chunk>& chunks, bool mean) {
  EncodingPlan plan;
  std::size_t size_index = 0;
  for (const Chunk& chunk : chunks) {
    const std::size_t needed = smallest_for(chunk.numel);
    if (!mean && chunk.numel <= kWarpCapacity) {
      plan.in_warps.push_back(chunk);
    } else if (needed == kClusterSizes.size()) {
      plan.in_tiles.push_back(chunk);
    } else {
      plan.in_clusters.push_back(chunk);
      size_index = std::max(size_index, needed);
    }
  }
  if (plan.in_clusters.empty()) return plan;
  // If there are few chunks, larger clusters keep more of the GPU busy.
  const std::size_t count = plan.in_clusters.size();
  while (size_index + 1 < kClusterSizes.size() && resident(size_index + 1) >= count) ++size_index;
  plan.blocks = kClusterSizes[size_index];
  plan.clusters = static_cast<unsigned>(std::min<std::size_t>(count, resident(size_index)));
  return plan;
}

}  // namespace trigram::cuda::minmax_uint8

namespace trigram::cuda {
namespace {

using minmax_uint8::Batch;
using minmax_uint8::Chunk;
using minmax_uint8::Decoded;

}  // namespace

void MinMaxUInt8::encode(const Tensor& wire, const Tensor& x) { encode_each({&wire, 1}, {&x, 1}); }

void MinMaxUInt8::decode(const Tensor& x, const Tensor& wire) { decode_each({&x, 1}, {&wire, 1}); }

void MinMaxUInt8::encode_each(std::span<const Tensor> wires, std::span<const Tensor> xs) {
  TRIGRAM_CHECK(wires.size() == xs.size(), "{} vectors on {} wires", xs.size(), wires.size());
  encode_vectors(wires, xs, {});
}

void MinMaxUInt8::encode_each_with_feedback(Device&, std::span<const Tensor> wires,
                                            std::span<const Tensor> xs,
                                            std::span<const Tensor> residuals) {
  TRIGRAM_CHECK(wires.size() == xs.size() && residuals.size() == xs.size(),
                "{} vectors with {} residuals on {} wires", xs.size(), residuals.size(),
                wires.size());
  encode_vectors(wires, xs, residuals);
}

void MinMaxUInt8::encode_vectors(std::span<const Tensor> wires, std::span<const Tensor> xs,
                                 std::span<const Tensor> residuals) {
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    check_wire(*this, wires[i], xs[i]);
    if (!residuals.empty()) check_wire(*this, wires[i], residuals[i]);
    chunks.push_back({floats(xs[i]), residuals.empty() ? nullptr : floats(residuals[i]),
                      wires[i].data(), xs[i].numel(), 0, 0});
  }
  encode_chunks(chunks, {}, 0, !residuals.empty());
}

void MinMaxUInt8::encode_mean(Device&, const Tensor& wire, std::span<const Tensor> wires,
                              const Tensor& mean, const Tensor* residual) {
  encode_means({&wire, 1}, wires, {&mean, 1},
               residual ? std::span(residual, 1) : std::span<const Tensor>{});
}

void MinMaxUInt8::encode_means(std::span<const Tensor> wires, std::span<const Tensor> incoming,
                               std::span<const Tensor> means, std::span<const Tensor> residuals) {
  const std::size_t wires_per_mean = wires.empty() ? 0 : incoming.size() / wires.size();
  TRIGRAM_CHECK(wires_per_mean > 0 && incoming.size() == wires_per_mean * wires.size(),
                "means of {} wires on {}", incoming.size(), wires.size());
  std::vector<Chunk> chunks;
  std::vector<const std::byte*> addresses;
  for (std::size_t i = 0; i < wires.size(); ++i) {
    check_wire(*this, wires[i], means[i]);
    if (!residuals.empty()) check_wire(*this, wires[i], residuals[i]);
    chunks.push_back({nullptr, residuals.empty() ? nullptr : floats(residuals[i]), wires[i].data(),
                      means[i].numel(), 0, static_cast<std::uint32_t>(addresses.size())});
    for (const Tensor& wire : incoming.subspan(i * wires_per_mean, wires_per_mean)) {
      check_wire(*this, wire, means[i]);
      addresses.push_back(wire.data());
    }
  }
  encode_chunks(chunks, addresses, wires_per_mean, !residuals.empty());
}

void MinMaxUInt8::encode_chunks(const std::vector<Chunk>& chunks,
                                const std::vector<const std::byte*>& incoming,
                                std::size_t wires_per_mean, bool feedback) {
  const bool mean = wires_per_mean > 0;
  minmax_uint8::EncodingPlan plan = minmax_uint8::plan_encoding(chunks, mean);
  Batch batch = {};
  batch.wires_per_mean = static_cast<std::uint32_t>(wires_per_mean);
  batch.scale = mean ? 1.0f / static_cast<float>(wires_per_mean) : 1;
  const Tensor wire_table = set_table(batch.wires, incoming, device());
  const auto set_chunks = [&](const std::vector<Chunk>& group) {
    batch.count = static_cast<std::uint32_t>(group.size());
    return set_table(batch.chunks, group, device());
  };
  if (!plan.in_warps.empty()) {
    const Tensor table = set_chunks(plan.in_warps);
    minmax_uint8::encode_in_warps(stream(), batch, feedback);
  }
  if (!plan.in_clusters.empty()) {
    const Tensor table = set_chunks(plan.in_clusters);
    minmax_uint8::encode_in_clusters(stream(), batch, plan.blocks, plan.clusters, mean, feedback);
  }
  if (plan.in_tiles.empty()) return;
  batch.tiles = assign_first_tiles(plan.in_tiles, minmax_uint8::kTile);
  const Tensor table = set_chunks(plan.in_tiles);
  const Tensor state = zeroed_scratch(minmax_uint8::tile_state_bytes(batch.count));
  const unsigned resident = minmax_uint8::resident_tile_blocks(mean, feedback);
  const unsigned blocks = std::min(2 * batch.tiles, resident * multiprocessors());
  // The number of tiles by which the search for ranges is ahead of the encoding: so large that
  // blocks rarely wait, and so small that a tile is still in the L2 cache when it is encoded.
  std::uint32_t lead = blocks;
  for (const Chunk& chunk : plan.in_tiles)
    lead = std::max(lead, tiles_of(chunk.numel, minmax_uint8::kTile));
  minmax_uint8::encode_in_tiles(stream(), batch, state.data(), std::min(lead, batch.tiles), blocks,
                                mean, feedback);
}

void MinMaxUInt8::decode_each(std::span<const Tensor> xs, std::span<const Tensor> wires) {
  TRIGRAM_CHECK(wires.size() == xs.size(), "{} vectors on {} wires", xs.size(), wires.size());
  decode_means(xs, wires);
}

void MinMaxUInt8::decode_mean(Device&, const Tensor& x, std::span<const Tensor> wires) {
  decode_means({&x, 1}, wires);
}

void MinMaxUInt8::decode_means(std::span<const Tensor> xs, std::span<const Tensor> wires) {
  if (xs.empty()) return;
  const std::size_t wires_per_mean = wires.size() / xs.size();
  TRIGRAM_CHECK(wires_per_mean > 0, "decode_means needs at least one wire per vector");
  std::vector<Decoded> chunks;
  std::vector<const std::byte*> addresses;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    chunks.push_back(
        {floats(xs[i]), xs[i].numel(), 0, static_cast<std::uint32_t>(addresses.size())});
    for (const Tensor& wire : wires.subspan(i * wires_per_mean, wires_per_mean)) {
      check_wire(*this, wire, xs[i]);
      addresses.push_back(wire.data());
    }
  }
  minmax_uint8::DecodeBatch batch = {};
  batch.count = static_cast<std::uint32_t>(chunks.size());
  batch.wires_per_mean = static_cast<std::uint32_t>(wires_per_mean);
  batch.scale = 1.0f / static_cast<float>(wires_per_mean);
  batch.tiles = assign_first_tiles(chunks, minmax_uint8::kDecodeTile);
  const Tensor chunk_table = set_table(batch.chunks, chunks, device());
  const Tensor wire_table = set_table(batch.wires, addresses, device());
  minmax_uint8::decode(stream(), batch);
}

std::unique_ptr<Codec> make_minmax_uint8(const CodecParts& parts) {
  return std::make_unique<MinMaxUInt8>(parts.context, parts.host);
}

}  // namespace trigram::cuda
