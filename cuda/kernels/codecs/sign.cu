#include "cuda/kernels/codecs/sign.h"

#include "cuda/kernels/codecs/tables.h"
#include "cuda/kernels/codecs/teams.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::sign {
namespace {

constexpr unsigned kThreads = 256, kTeams = kThreads / team::kSize;
static_assert(kTile == kTeams * fixed_sums::kTile && kTileBytes == kTeams * sizeof(double));

/// The position of a block in its chunk.
struct Place {
  Chunk chunk;
  std::size_t tile;  // index of the tile of kTile elements
  __device__ __forceinline__ explicit Place(const Batch& batch)
      : chunk(batch.chunks[chunk_of_tile(batch.chunks, batch.count, blockIdx.x)]),
        tile(blockIdx.x - chunk.first_tile) {}
};

/// The start of a chunk's signs, which follow its scale, or both means.
__device__ __forceinline__ std::byte* signs_of(const Chunk& chunk, Scale scale) {
  return chunk.wire + (scale == Scale::means ? 2 : 1) * sizeof(float);
}

/// Stores bits 32 w .. 32 w + 31 of a chunk's signs. Only bytes that have elements are written.
__device__ __forceinline__ void store_bits(const Chunk& chunk, Scale scale, std::size_t w,
                                           std::uint32_t bits) {
  std::byte* signs = signs_of(chunk, scale);
  const std::size_t bytes = (chunk.numel + 7) / 8;
  if (4 * w + 4 <= bytes) return store_codes(signs, w, bits, is_aligned(signs, 4));
  for (std::size_t at = 4 * w; at < bytes; ++at, bits >>= 8) signs[at] = std::byte(bits & 0xFF);
}

/// Writes the signs, and computes the sums for the scale (squares, magnitudes, or the sums for
/// means). A team sums one tile of fixed_sums::kTile elements. The lanes of a warp vote on the
/// signs of both teams in the warp. With feedback, x + e is encoded and stored as e.
template <bool kFeedback>
__global__ void __launch_bounds__(kThreads) pack(const Batch batch, double* totals) {
  constexpr unsigned kGroups = fixed_sums::kTile / team::kSize;  // groups of sixteen elements
  const Place at(batch);
  const unsigned lane = team::lane(), shift = threadIdx.x % 32 / team::kSize * team::kSize;
  const std::size_t tile = at.tile * kTeams + threadIdx.x / team::kSize;
  const std::size_t begin = tile * fixed_sums::kTile;
  double sum = 0, negatives = 0, number = 0;
  std::uint32_t kept = 0;
#pragma unroll 8
  for (unsigned group = 0; group < kGroups; ++group) {
    const std::size_t i = begin + group * team::kSize + lane;
    float v = 0;
    if (i < at.chunk.numel) {
      v = at.chunk.x[i];
      if (kFeedback) at.chunk.residual[i] = v = __fadd_rn(at.chunk.residual[i], v);
    }
    const double d = v;
    if (batch.scale == Scale::means) {
      sum = sum + (v < 0 ? 0 : d);
      negatives = negatives + (v < 0 ? d : 0);
      number = number + (v < 0 ? 1 : 0);
    } else {
      sum = sum + (batch.scale == Scale::l2 ? d * d : fabs(d));
    }
    const std::uint32_t votes = __ballot_sync(team::kAll, v < 0) >> shift & 0xFFFF;
    // The votes of two groups are 32 bits. One lane keeps them until every lane has 32 bits.
    if (group / 2 % team::kSize == lane) kept = group % 2 == 0 ? votes : kept | votes << 16;
    if (group % (2 * team::kSize) == 2 * team::kSize - 1)
      store_bits(at.chunk, batch.scale, begin / 32 + group / (2 * team::kSize) * team::kSize + lane,
                 kept);
  }
  const std::size_t own = blockIdx.x * kTeams + threadIdx.x / team::kSize,
                    all = std::size_t{batch.tiles} * kTeams;
  const auto store = [&](std::size_t which, double of_lane) {
    const double of_team = team::tree_sum(of_lane);
    if (lane == 0) totals[which * all + own] = of_team;
  };
  store(0, sum);
  if (batch.scale != Scale::means) return;
  store(1, negatives);
  store(2, number);
}

/// The bits of a level as f32.
__device__ __forceinline__ std::uint32_t level_bits(double level, bool finite) {
  return finite ? __float_as_uint(__double2float_rn(level)) : 0x7FC00000;  // NaN
}

/// Writes the scale of a chunk, or both means, to the wire.
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
    const double negatives = total(1), number = total(2);
    if (threadIdx.x > 0) return;
    const double plus = __ddiv_rn(sum, fmax(count - number, 1.0)),
                 minus = __ddiv_rn(negatives, fmax(number, 1.0)), both = plus + minus;
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
  __device__ __forceinline__ float of(bool negative) const { return negative ? minus : plus; }
};

/// Subtracts the decoded value from x + e, which `pack` has stored as e.
__global__ void __launch_bounds__(kThreads) subtract(const Batch batch) {
  const Place at(batch);
  const Levels levels(at.chunk, batch.scale);
  const std::size_t end = min(at.chunk.numel, (at.tile + 1) * kTile);
  for (std::size_t i = at.tile * kTile + threadIdx.x; i < end; i += kThreads) {
    const float v = at.chunk.residual[i];
    at.chunk.residual[i] = __fsub_rn(v, levels.of(v < 0));
  }
}

__global__ void __launch_bounds__(kThreads) unpack(const Batch batch) {
  const Place at(batch);
  const Levels levels(at.chunk, batch.scale);
  const auto* signs = reinterpret_cast<const std::uint8_t*>(signs_of(at.chunk, batch.scale));
  const bool aligned = is_aligned(at.chunk.x, 16);
  const std::size_t words = (min(at.chunk.numel, (at.tile + 1) * kTile) + 3) / 4;
#pragma unroll 4
  for (std::size_t w = at.tile * kTile / 4 + threadIdx.x; w < words; w += kThreads) {
    const unsigned bits = signs[w / 2] >> 4 * (w % 2);
    const float4 v = {levels.of(bits & 1), levels.of(bits & 2), levels.of(bits & 4),
                      levels.of(bits & 8)};
    store_word(at.chunk.x, w, v, elements_of_word(at.chunk.numel, w), aligned);
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
