#include "cuda/kernels/codecs/qsgd.h"

#include "core/random/philox.h"
#include "cuda/kernels/codecs/tables.h"
#include "cuda/kernels/codecs/teams.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::qsgd {
namespace {

using trigram::qsgd::Rounding;

constexpr unsigned kThreads = 256, kTeams = kThreads / team::kSize;
constexpr std::size_t kGroup = 64;  // elements that use eight blocks of random numbers

/// The index of the thread in the grid.
__device__ __forceinline__ std::size_t thread() {
  return static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
}

/// A bucket of the batch. It is empty, without a wire, if `number` is past the last bucket.
struct Bucket {
  float* x = nullptr;
  std::byte* wire = nullptr;
  std::size_t numel = 0;
  std::uint32_t first_block = 0;

  __device__ __forceinline__ Bucket(const Batch& batch, std::size_t number) {
    if (number >= batch.buckets) return;
    const auto bucket = static_cast<std::uint32_t>(number);
    const Chunk& chunk = batch.chunks[chunk_of_tile(batch.chunks, batch.count, bucket)];
    const std::size_t size = batch.format.bucket, b = bucket - chunk.first_tile;
    if (b * size >= chunk.numel) return;  // the chunk is empty
    x = chunk.x + b * size;
    wire = chunk.wire + b * batch.format.bucket_bytes(size);
    numel = min(size, chunk.numel - b * size);
    first_block =
        chunk.first_block + static_cast<std::uint32_t>(b) * trigram::qsgd::random_blocks(size);
  }
  __device__ __forceinline__ float norm() const {
    return __uint_as_float(load_codes(wire, 0, is_aligned(wire, 4)));
  }
  __device__ __forceinline__ void set_norm(float norm) const {
    const std::uint32_t bits = norm == norm ? __float_as_uint(norm) : 0x7FC00000;
    store_codes(wire, 0, bits, is_aligned(wire, 4));
  }
};

/// Computed by a team: the sum of squares and the largest magnitude of the elements of a tile.
struct Measure {
  double squares = 0;
  std::uint32_t magnitude = 0;
  __device__ __forceinline__ Measure(const float* x, std::size_t n) {
#pragma unroll 8
    for (std::size_t i = team::lane(); i < n; i += team::kSize) {
      const float v = x[i];
      const double d = v;
      squares = squares + d * d;
      magnitude = max(magnitude, __float_as_uint(v) & 0x7FFFFFFF);
    }
    squares = team::tree_sum(squares);
    magnitude = team::maximum(magnitude);
  }
};

/// NaN if a square is not finite or the norm exceeds f32. (No sum of squares of finite f32 values
/// overflows f64.)
__device__ __forceinline__ float norm_of(const Format& format, double squares,
                                         std::uint32_t magnitude) {
  const float norm =
      format.max_norm ? __uint_as_float(magnitude) : __double2float_rn(__dsqrt_rn(squares));
  const bool finite = squares - squares == 0 && norm - norm == 0;
  return trigram::qsgd::wire_norm(finite ? norm : __uint_as_float(0x7FC00000));
}

/// Writes the codes of group `group` of a bucket. Eight threads do this together; this is thread
/// number `j`. Each thread handles the elements of one block of random numbers: two of every
/// sixteen elements.
__device__ __forceinline__ void encode_group(const Batch& batch, const Bucket& bucket, float norm,
                                             std::size_t group, unsigned j) {
  const auto bits = static_cast<unsigned>(batch.format.bits);
  const Rounding rounding(batch.format.levels, norm);
  const std::uint32_t zero = static_cast<std::uint32_t>(rounding.limit) - 0x4B400000u;
  Philox::Block counter = batch.counter;
  counter[0] = bucket.first_block + static_cast<std::uint32_t>(8 * group + j);
  const Philox::Block words = Philox::encrypt(counter, batch.key);
  std::byte* codes = bucket.wire + sizeof(float);
  const std::size_t bytes = batch.format.code_bytes(bucket.numel);
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    unsigned long long packed = 0;
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      const std::size_t at = group * kGroup + 16 * k + 2 * j + i;
      if (at >= bucket.numel || norm != norm) continue;
      const std::uint32_t word = words[k % 2 + 2 * i];
      const std::uint32_t random15 = k < 2 ? word & 0x7FFF : word >> 17;
      const float scaled = __fmul_rn(bucket.x[at], rounding.scale);
      const std::uint32_t sum = __float_as_uint(__fadd_rn(scaled, 12582912.0f)) + zero + random15;
      packed |= static_cast<unsigned long long>(sum >> 15 & 0xFF) << (2 * (j % 4) + i) * bits;
    }
    packed |= __shfl_xor_sync(team::kFullWarp, packed, 1, 8);
    packed |= __shfl_xor_sync(team::kFullWarp, packed, 2, 8);
    const std::size_t first = (group * kGroup / 8 + 2 * k + j / 4) * bits;
    for (unsigned byte = j % 4; byte < bits; byte += 4) {
      if (first + byte < bytes) codes[first + byte] = std::byte(packed >> 8 * byte & 0xFF);
    }
  }
}

/// For buckets of at most a tile. One team handles one bucket and reads it twice, the second time
/// from the L1 cache.
__global__ void __launch_bounds__(kThreads) encode_buckets(const Batch batch) {
  const Bucket bucket(batch, thread() / team::kSize);
  const Measure measure(bucket.x, bucket.numel);
  const float norm = norm_of(batch.format, measure.squares, measure.magnitude);
  if (bucket.wire && team::lane() == 0) bucket.set_norm(norm);
  const std::size_t groups = (batch.format.bucket + kGroup - 1) / kGroup;
  for (std::size_t group = 0; group < groups; group += 2)
    encode_group(batch, bucket, norm, group + team::lane() / 8, team::lane() % 8);
}

/// For larger buckets, step 1: one team measures one tile.
__global__ void __launch_bounds__(kThreads)
    measure_tiles(const Batch batch, std::size_t tiles, const Scratch scratch) {
  const std::size_t number = thread() / team::kSize;
  const Bucket bucket(batch, number / tiles);
  const std::size_t begin = min(bucket.numel, number % tiles * fixed_sums::kTile);
  const Measure measure(bucket.x + begin, min(bucket.numel - begin, fixed_sums::kTile));
  if (!bucket.wire || team::lane() > 0) return;
  scratch.totals[number] = measure.squares;
  atomicMax(&scratch.magnitudes[number / tiles], measure.magnitude);
}

/// For larger buckets, step 2: one team computes the norm of one bucket.
__global__ void __launch_bounds__(kThreads)
    finish_norms(const Batch batch, std::size_t tiles, const Scratch scratch) {
  const std::size_t number = thread() / team::kSize;
  const Bucket bucket(batch, number);
  const std::size_t own = (bucket.numel + fixed_sums::kTile - 1) / fixed_sums::kTile;
  const double squares = team::sum_of_tiles(scratch.totals + number * tiles, own);
  if (bucket.wire && team::lane() == 0)
    bucket.set_norm(norm_of(batch.format, squares, scratch.magnitudes[number]));
}

/// For larger buckets, step 3: one team encodes two groups of a bucket.
__global__ void __launch_bounds__(kThreads) encode_groups(const Batch batch, std::size_t pairs) {
  const std::size_t number = thread() / team::kSize;
  const Bucket bucket(batch, number / pairs);
  const float norm = bucket.wire ? bucket.norm() : 0;
  encode_group(batch, bucket, norm, 2 * (number % pairs) + team::lane() / 8, team::lane() % 8);
}

/// One thread decodes eight elements.
__global__ void __launch_bounds__(kThreads) decode_eights(const Batch batch, std::size_t eights) {
  const Bucket bucket(batch, thread() / eights);
  const std::size_t begin = thread() % eights * 8;
  if (begin >= bucket.numel) return;
  const auto bits = static_cast<unsigned>(batch.format.bits);
  const auto* codes = reinterpret_cast<const std::uint8_t*>(bucket.wire) + sizeof(float);
  const std::size_t first = begin / 8 * bits, bytes = batch.format.code_bytes(bucket.numel);
  unsigned long long packed = 0;
  for (unsigned byte = 0; byte < bits && first + byte < bytes; ++byte)
    packed |= static_cast<unsigned long long>(codes[first + byte]) << 8 * byte;
  const float unit = __fdiv_rn(bucket.norm(), static_cast<float>(batch.format.levels));
  for (unsigned i = 0; i < 8 && begin + i < bucket.numel; ++i, packed >>= bits) {
    const int code = static_cast<int>(packed & ((1u << bits) - 1)) - batch.format.levels;
    bucket.x[begin + i] = __fmul_rn(static_cast<float>(code), unit);
  }
}

Launch by_teams(std::size_t teams) {
  return {.grid = static_cast<unsigned>((teams + kTeams - 1) / kTeams), .block = kThreads};
}

}  // namespace

bool needs_scratch(const Format& format) { return format.bucket > fixed_sums::kTile; }

std::size_t tiles_of_bucket(const Format& format) {
  return (format.bucket + fixed_sums::kTile - 1) / fixed_sums::kTile;
}

void encode(cudaStream_t stream, const Batch& batch, const Scratch& scratch) {
  const std::size_t buckets = batch.buckets;
  if (!needs_scratch(batch.format)) return launch(stream, by_teams(buckets), encode_buckets, batch);
  const std::size_t tiles = tiles_of_bucket(batch.format);
  const std::size_t pairs = (batch.format.bucket + 2 * kGroup - 1) / (2 * kGroup);
  launch(stream, by_teams(buckets * tiles), measure_tiles, batch, tiles, scratch);
  launch(stream, by_teams(buckets), finish_norms, batch, tiles, scratch);
  launch(stream, by_teams(buckets * pairs), encode_groups, batch, pairs);
}

void decode(cudaStream_t stream, const Batch& batch) {
  const std::size_t eights = (batch.format.bucket + 7) / 8;
  const std::size_t blocks = (batch.buckets * eights + kThreads - 1) / kThreads;
  launch(stream, {.grid = static_cast<unsigned>(blocks), .block = kThreads}, decode_eights, batch,
         eights);
}

}  // namespace trigram::cuda::qsgd
