#include "cuda/kernels/codecs/chunk_topk.h"

#include "core/codecs/chunk_topk_math.h"
#include "cuda/kernels/codecs/chunk_selection.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::chunk_topk {
namespace {

using namespace trigram::chunk_topk;

// A block handles a chunk.
constexpr unsigned kThreads = 256;
using Selection = ChunkSelection<kThreads, kChunk / kThreads>;

__global__ void __launch_bounds__(kThreads)
    encode_chunks(const float* x, std::size_t numel, std::size_t keep, std::byte* wire) {
  __shared__ Selection::Shared shared;
  __shared__ std::uint16_t codes[kChunk];
  const std::size_t first = std::size_t{blockIdx.x} * kChunk;
  const float* const chunk = x + first;
  const auto count = static_cast<unsigned>(min(kChunk, numel - first)),
             kept = static_cast<unsigned>(kept_of(count, keep));
  std::byte* const to = wire + blockIdx.x * chunk_bytes(kChunk, keep);
  const Selection selection(chunk, count, kept, shared);
  const Levels levels = Levels::of(selection.least(), selection.most());
  if (threadIdx.x == 0) {
    store_codes(to, 0, __float_as_uint(levels.low), false);
    store_codes(to, 1, __float_as_uint(levels.high), false);
  }
  selection.for_each([&](unsigned position, unsigned index) {
    codes[position] = static_cast<std::uint16_t>(code_of(index, chunk[index], levels));
  });
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
