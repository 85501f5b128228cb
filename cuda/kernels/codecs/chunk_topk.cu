#include "cuda/kernels/codecs/chunk_topk.h"

#include "core/codecs/chunk_topk_math.h"
#include "cuda/kernels/block_sum.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::chunk_topk {
namespace {

using namespace trigram::chunk_topk;

// A block handles a chunk, and a thread neighbouring elements, so that chosen elements stay in
// order.
constexpr unsigned kThreads = 256, kPerThread = kChunk / kThreads, kWarps = kThreads / 32;

struct Counts {
  std::uint32_t above, ties;
};

__device__ __forceinline__ std::uint32_t magnitude_of(float x) {
  return __float_as_uint(x) & 0x7FFFFFFF;
}

/// The magnitudes of a thread's elements; the chunk has no elements beyond `count`.
struct Own {
  std::uint32_t magnitudes[kPerThread];
  unsigned count;

  __device__ __forceinline__ Own(const float* chunk, unsigned numel) {
    const unsigned begin = threadIdx.x * kPerThread;
    count = begin < numel ? min(kPerThread, numel - begin) : 0;
    for (unsigned i = 0; i < count; ++i) magnitudes[i] = magnitude_of(chunk[begin + i]);
  }
  __device__ __forceinline__ Counts counts(std::uint32_t bound) const {
    Counts found = {0, 0};
    for (unsigned i = 0; i < count; ++i) {
      found.above += magnitudes[i] > bound;
      found.ties += magnitudes[i] == bound;
    }
    return found;
  }
};

/// The greatest bound that at least `kept` magnitudes of the chunk reach, bit by bit.
__device__ __forceinline__ std::uint32_t bound_of(const Own& own, unsigned kept,
                                                  std::uint32_t* warps) {
  std::uint32_t bound = 0;
  for (int bit = 30; bit >= 0; --bit) {
    const std::uint32_t candidate = bound | 1u << bit;
    const Counts found = own.counts(candidate);
    if (block_sum<kThreads>(found.above + found.ties, warps) >= kept) bound = candidate;
  }
  return bound;
}

__global__ void __launch_bounds__(kThreads)
    encode_chunks(const float* x, std::size_t numel, std::size_t keep, std::byte* wire) {
  __shared__ std::uint32_t warps[kWarps];
  __shared__ Counts by_thread[kThreads];
  __shared__ std::uint16_t codes[kChunk];
  const std::size_t first = std::size_t{blockIdx.x} * kChunk;
  const float* const chunk = x + first;
  const auto count = static_cast<unsigned>(min(kChunk, numel - first)),
             kept = static_cast<unsigned>(kept_of(count, keep));
  std::byte* const to = wire + blockIdx.x * chunk_bytes(kChunk, keep);
  const Own own(chunk, count);
  const std::uint32_t bound = bound_of(own, kept, warps), most = bound_of(own, 1, warps);
  const Levels levels = Levels::of(__uint_as_float(bound), __uint_as_float(most));
  if (threadIdx.x == 0) {
    store_codes(to, 0, __float_as_uint(levels.low), false);
    store_codes(to, 1, __float_as_uint(levels.high), false);
  }
  by_thread[threadIdx.x] = own.counts(bound);
  const std::uint32_t ties = kept - block_sum<kThreads>(by_thread[threadIdx.x].above, warps);
  Counts before = {0, 0};
  for (unsigned thread = 0; thread < threadIdx.x; ++thread) {
    before.above += by_thread[thread].above;
    before.ties += by_thread[thread].ties;
  }
  for (unsigned i = 0; i < own.count; ++i) {
    const unsigned index = threadIdx.x * kPerThread + i;
    const bool above = own.magnitudes[i] > bound, tie = own.magnitudes[i] == bound;
    if (above || (tie && before.ties < ties))
      codes[before.above + min(before.ties, ties)] =
          static_cast<std::uint16_t>(code_of(index, chunk[index], levels));
    before.above += above;
    before.ties += tie;
  }
  __syncthreads();
  for (unsigned group = threadIdx.x; group * kGroup < kept; group += kThreads) {
    std::uint64_t packed = 0;
    for (unsigned j = 0; j < kGroup && group * kGroup + j < kept; ++j)
      packed |= std::uint64_t{codes[group * kGroup + j]} << 14 * j;
    for (unsigned byte = 0; byte < kGroupBytes; ++byte)
      to[kHeaderBytes + group * kGroupBytes + byte] = static_cast<std::byte>(packed >> 8 * byte);
  }
}

__global__ void __launch_bounds__(kThreads)
    decode_chunks(const std::byte* wire, std::size_t numel, std::size_t keep, float* x) {
  const std::size_t first = std::size_t{blockIdx.x} * kChunk;
  float* const chunk = x + first;
  const auto count = static_cast<unsigned>(min(kChunk, numel - first)),
             kept = static_cast<unsigned>(kept_of(count, keep));
  const std::byte* const from = wire + blockIdx.x * chunk_bytes(kChunk, keep);
  const float low = __uint_as_float(load_codes(from, 0, false)),
              high = __uint_as_float(load_codes(from, 1, false));
  for (unsigned i = threadIdx.x; i < count; i += kThreads) chunk[i] = low - low;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kept; i += kThreads) {
    std::uint64_t packed = 0;
    for (unsigned byte = 0; byte < kGroupBytes; ++byte)
      packed |= std::uint64_t{static_cast<std::uint8_t>(
                    from[kHeaderBytes + i / kGroup * kGroupBytes + byte])}
                << 8 * byte;
    const auto code = static_cast<std::uint32_t>(packed >> 14 * (i % kGroup)) & 0x3FFF;
    if ((code & 0xFFF) < count) chunk[code & 0xFFF] = value_of(code, low, high);
  }
}

Launch shape(std::size_t numel) {
  return {.grid = static_cast<unsigned>((numel + kChunk - 1) / kChunk), .block = kThreads};
}

}  // namespace

void encode(cudaStream_t stream, const float* x, std::size_t numel, std::size_t keep,
            std::byte* wire) {
  if (numel > 0) launch(stream, shape(numel), encode_chunks, x, numel, keep, wire);
}

void decode(cudaStream_t stream, const std::byte* wire, std::size_t numel, std::size_t keep,
            float* x) {
  if (numel > 0) launch(stream, shape(numel), decode_chunks, wire, numel, keep, x);
}

}  // namespace trigram::cuda::chunk_topk
