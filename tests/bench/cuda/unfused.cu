#include "tests/bench/cuda/unfused.h"

#include "cuda/kernels/codecs/minmax_uint8_math.h"
#include "cuda/support/error.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::unfused {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kWords = 8;  // words per thread
constexpr std::size_t kTileWords = kThreads * kWords;

__device__ __forceinline__ std::uint32_t ordered_key(float x) {
  const std::uint32_t bits = __float_as_uint(x);
  return bits ^ (bits >> 31 ? 0xFFFFFFFF : 0x80000000);
}
__device__ __forceinline__ float float_of_key(std::uint32_t key) {
  return __uint_as_float(key ^ (key >> 31 ? 0x80000000 : 0xFFFFFFFF));
}

/// Computes the largest `key` of all elements of each chunk. Blocks are numbered (tile, chunk).
template <class Key>
__device__ __forceinline__ void reduce(const Chunk& chunk, std::uint32_t* result, const Key& key) {
  const auto* words = reinterpret_cast<const float4*>(chunk.x);
  const std::size_t first = blockIdx.x * kTileWords + threadIdx.x;
  std::uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const std::size_t w = first + i * kThreads;
    if (4 * w >= chunk.numel) continue;
    const float4 v = words[w];
    most = max(max(most, key(v.x)), max(max(key(v.y), key(v.z)), key(v.w)));
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    most = max(most, __shfl_xor_sync(0xFFFFFFFF, most, step));
  __shared__ std::uint32_t warps[kThreads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (const std::uint32_t warp : warps) most = max(most, warp);
  atomicMax(result, most);
}

__global__ void __launch_bounds__(kThreads) find_minima(const Chunk* chunks, Extremes* extremes) {
  reduce(chunks[blockIdx.y], &extremes[blockIdx.y].inverted_low,
         [](float x) { return ~ordered_key(x); });
}

__global__ void __launch_bounds__(kThreads) find_maxima(const Chunk* chunks, Extremes* extremes) {
  reduce(chunks[blockIdx.y], &extremes[blockIdx.y].high, [](float x) { return ordered_key(x); });
}

__global__ void __launch_bounds__(kThreads)
    quantize(const Chunk* chunks, const Extremes* extremes) {
  const Chunk chunk = chunks[blockIdx.y];
  const Extremes found = extremes[blockIdx.y];
  const minmax_uint8::Range range =
      minmax_uint8::Extremes{float_of_key(~found.inverted_low), float_of_key(found.high)}.range();
  const minmax_uint8::Quantizer quantizer(trigram::minmax_uint8::grid_of(range));
  if (blockIdx.x == 0 && threadIdx.x < 8)
    minmax_uint8::write_header_word(chunk.wire, threadIdx.x, range);
  const auto* words = reinterpret_cast<const float4*>(chunk.x);
  auto* codes = reinterpret_cast<std::uint32_t*>(chunk.wire + minmax_uint8::kHeaderBytes);
  const std::size_t first = blockIdx.x * kTileWords + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const std::size_t w = first + i * kThreads;
    if (4 * w < chunk.numel) codes[w] = quantizer.word(words[w], 4);
  }
}

}  // namespace

void encode(cudaStream_t stream, const Chunk* chunks, unsigned count, std::size_t longest,
            Extremes* extremes) {
  check(cudaMemsetAsync(extremes, 0, count * sizeof(Extremes), stream), "cudaMemsetAsync");
  const auto tiles = static_cast<unsigned>((longest / 4 + kTileWords - 1) / kTileWords);
  const Launch all = {.grid = dim3(tiles, count), .block = kThreads};
  launch(stream, all, find_minima, chunks, extremes);
  launch(stream, all, find_maxima, chunks, extremes);
  launch(stream, all, quantize, chunks, extremes);
}

}  // namespace trigram::cuda::unfused
