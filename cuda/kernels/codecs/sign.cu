#include "cuda/kernels/codecs/sign.h"

#include "cuda/kernels/codecs/tables.h"
#include "cuda/kernels/codecs/teams.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::sign {
namespace {

constexpr unsigned kThreads = 256, kTeams = kThreads / team::kSize;
static_assert(kTile == kTeams * fixed_sums::kTile && kTileBytes == kTeams * sizeof(double));

/// The chunk and the tile that a block handles.
struct Position {
  Chunk chunk;
  std::size_t tile;  // index of the tile of kTile elements
  __device__ __forceinline__ explicit Position(const Batch& batch)
      : chunk(batch.chunks[chunk_of_tile(batch.chunks, batch.count, blockIdx.x)]),
        tile(blockIdx.x - chunk.first_tile) {}
};

/// The start of a chunk's signs, which follow its scale or its two means.
__device__ __forceinline__ std::byte* signs_of(const Chunk& chunk, Scale scale) {
  return chunk.wire + (scale == Scale::means ? 2 : 1) * sizeof(float);
}

/// Stores bits 32 w .. 32 w + 31 of a chunk's signs, but no bytes beyond the last element.
__device__ __forceinline__ void store_bits(const Chunk& chunk, Scale scale, std::size_t w,
                                           std::uint32_t bits) {
  std::byte* signs = signs_of(chunk, scale);
  const std::size_t bytes = (chunk.numel + 7) / 8;
  if (4 * w + 4 <= bytes) return store_codes(signs, w, bits, is_aligned(signs, 4));
  for (std::size_t at = 4 * w; at < bytes; ++at, bits >>= 8) signs[at] = std::byte(bits & 0xFF);
}

/// Writes the signs, and computes the sums for the scale: of squares, of magnitudes, or the three
/// sums for means. A team sums one tile of fixed_sums::kTile elements. The lanes of a warp vote on
/// the signs of both teams in the warp. With feedback, x + e is encoded and stored as e.
template <bool kFeedback>
__global__ void __launch_bounds__(kThreads) pack(const Batch batch, double* totals) {
  constexpr unsigned kGroups = fixed_sums::kTile / team::kSize;  // groups of sixteen elements
  const Position position(batch);
  const unsigned lane = team::lane(), shift = threadIdx.x % 32 / team::kSize * team::kSize;
  const std::size_t tile = position.tile * kTeams + threadIdx.x / team::kSize;
  const std::size_t begin = tile * fixed_sums::kTile;
  double sum = 0, negatives = 0, negative_count = 0;
  std::uint32_t kept_votes = 0;
#pragma unroll 8
  for (unsigned group = 0; group < kGroups; ++group) {
    const std::size_t i = begin + group * team::kSize + lane;
    float v = 0;
    if (i < position.chunk.numel) {
      v = position.chunk.x[i];
      if (kFeedback) position.chunk.residual[i] = v = __fadd_rn(position.chunk.residual[i], v);
    }
    const double d = v;
    if (batch.scale == Scale::means) {
      sum = sum + (v < 0 ? 0 : d);
      negatives = negatives + (v < 0 ? d : 0);
      negative_count = negative_count + (v < 0 ? 1 : 0);
    } else {
      sum = sum + (batch.scale == Scale::l2 ? d * d : fabs(d));
    }
    const std::uint32_t votes = __ballot_sync(team::kFullWarp, v < 0) >> shift & 0xFFFF;
    // The votes of two groups are 32 bits. One lane keeps them until every lane has 32 bits.
    if (group / 2 % team::kSize == lane)
      kept_votes = group % 2 == 0 ? votes : kept_votes | votes << 16;
    if (group % (2 * team::kSize) == 2 * team::kSize - 1)
      store_bits(position.chunk, batch.scale,
                 begin / 32 + group / (2 * team::kSize) * team::kSize + lane, kept_votes);
  }
  const std::size_t own = blockIdx.x * kTeams + threadIdx.x / team::kSize,
                    all = std::size_t{batch.tiles} * kTeams;
  const auto store = [&](std::size_t which, double lane_sum) {
    const double team_sum = team::tree_sum(lane_sum);
    if (lane == 0) totals[which * all + own] = team_sum;
  };
  store(0, sum);
  if (batch.scale != Scale::means) return;
  store(1, negatives);
  store(2, negative_count);
}

/// The bits of a level as f32.
__device__ __forceinline__ std::uint32_t level_bits(double level, bool finite) {
  return finite ? __float_as_uint(__double2float_rn(level)) : 0x7FC00000;  // NaN
}

/// Writes the scale of a chunk, or its two means, to the wire.
__global__ void finish(const Batch batch, const double* totals) {
  const Chunk chunk = batch.chunks[blockIdx.x];
  const std::size_t tiles = (chunk.numel + fixed_sums::kTile - 1) / fixed_sums::kTile;
  const auto total = [&](std::size_t which) {
    const std::size_t all = std::size_t{batch.tiles} * kTeams;
    return team::sum_of_tiles(totals + which * all + std::size_t{chunk.first_tile} * kTeams, tiles);
  };
  const bool aligned = is_aligned(chunk.wire, 4);
  const double sum = total(0);
  const auto count = static_cast<double>(chunk.numel);
  if (batch.scale == Scale::means) {
    const double negatives = total(1), negative_count = total(2);
    if (threadIdx.x > 0) return;
    const double plus = __ddiv_rn(sum, fmax(count - negative_count, 1.0)),
                 minus = __ddiv_rn(negatives, fmax(negative_count, 1.0)), both = plus + minus;
    store_codes(chunk.wire, 0, level_bits(plus, both - both == 0), aligned);
    store_codes(chunk.wire, 1, level_bits(minus, both - both == 0), aligned);
    return;
  }
  if (threadIdx.x > 0) return;
  double scale = __ddiv_rn(sum, count);
  if (batch.scale == Scale::l2) scale = __dsqrt_rn(scale);
  const bool finite = scale - scale == 0;
  if (batch.scale == Scale::one && finite && scale > 0) scale = 1;
  store_codes(chunk.wire, 0, chunk.numel == 0 ? 0 : level_bits(scale, finite), aligned);
}

/// The values to which the signs of a chunk decode.
struct Levels {
  float plus, minus;
  __device__ __forceinline__ Levels(const Chunk& chunk, Scale scale) {
    const bool aligned = is_aligned(chunk.wire, 4);
    const std::uint32_t first = load_codes(chunk.wire, 0, aligned);
    plus = __uint_as_float(first);
    minus = __uint_as_float(scale == Scale::means ? load_codes(chunk.wire, 1, aligned)
                                                  : first ^ 0x80000000);
  }
  __device__ __forceinline__ float value(bool negative) const { return negative ? minus : plus; }
};

/// Subtracts the decoded value from x + e, which `pack` has stored as e.
__global__ void __launch_bounds__(kThreads) subtract(const Batch batch) {
  const Position position(batch);
  const Levels levels(position.chunk, batch.scale);
  const std::size_t end = min(position.chunk.numel, (position.tile + 1) * kTile);
  for (std::size_t i = position.tile * kTile + threadIdx.x; i < end; i += kThreads) {
    const float v = position.chunk.residual[i];
    position.chunk.residual[i] = __fsub_rn(v, levels.value(v < 0));
  }
}

__global__ void __launch_bounds__(kThreads) unpack(const Batch batch) {
  const Position position(batch);
  const Levels levels(position.chunk, batch.scale);
  const auto* signs = reinterpret_cast<const std::uint8_t*>(signs_of(position.chunk, batch.scale));
  const bool aligned = is_aligned(position.chunk.x, 16);
  const std::size_t words = (min(position.chunk.numel, (position.tile + 1) * kTile) + 3) / 4;
#pragma unroll 4
  for (std::size_t w = position.tile * kTile / 4 + threadIdx.x; w < words; w += kThreads) {
    const unsigned bits = signs[w / 2] >> 4 * (w % 2);
    const float4 v = {levels.value(bits & 1), levels.value(bits & 2), levels.value(bits & 4),
                      levels.value(bits & 8)};
    store_word(position.chunk.x, w, v, elements_of_word(position.chunk.numel, w), aligned);
  }
}

}  // namespace

void encode(cudaStream_t stream, const Batch& batch, double* totals, bool feedback) {
  const Launch all = {.grid = batch.tiles, .block = kThreads};
  launch(stream, all, feedback ? pack<true> : pack<false>, batch, totals);
  launch(stream, {.grid = batch.count, .block = 32}, finish, batch, totals);
  if (feedback) launch(stream, all, subtract, batch);
}

void decode(cudaStream_t stream, const Batch& batch) {
  launch(stream, {.grid = batch.tiles, .block = kThreads}, unpack, batch);
}

}  // namespace trigram::cuda::sign
