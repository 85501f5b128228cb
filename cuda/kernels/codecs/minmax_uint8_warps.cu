#include "cuda/kernels/codecs/minmax_uint8.h"
#include "cuda/kernels/codecs/minmax_uint8_math.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::minmax_uint8 {
namespace {

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
constexpr int kWords = kWarpCapacity / 32 / 4;  // words per lane

template <bool kFeedback>
__device__ __forceinline__ void encode(const Chunk& chunk) {
  const unsigned lane = threadIdx.x % 32, numel = static_cast<unsigned>(chunk.numel);
  const bool aligned = is_aligned(chunk.x, 16) && (!kFeedback || is_aligned(chunk.residual, 16));
  float4 v[kWords] = {};
  Scan scan;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const unsigned w = i * 32 + lane, count = elements_of_word(numel, w);
    if (count == 0) continue;
    v[i] = load_word(chunk.x, w, count, aligned);
    if (kFeedback) v[i] = sum_of(load_word(chunk.residual, w, count, aligned), v[i]);
    scan.add(v[i]);
  }
  const Range range = over_warp(scan.result()).range();
  const Quantizer quantizer(trigram::minmax_uint8::grid_of(range));
  const Decoder decoder(range);

  std::byte* codes = chunk.wire + kHeaderBytes;
  const bool wire_aligned = is_aligned(codes, 4);
  if (lane < 8) write_header_word(chunk.wire, lane, range);
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const unsigned w = i * 32 + lane;
    if (w >= code_words(numel)) continue;
    const unsigned count = elements_of_word(numel, w);
    const std::uint32_t word = quantizer.word(v[i], count);
    store_codes(codes, w, word, wire_aligned);
    if (kFeedback)
      store_word(chunk.residual, w, difference_of(v[i], decoder.word(word)), count, aligned);
  }
}

template <bool kFeedback>
__global__ void __launch_bounds__(kThreads) encode_warps(const Batch batch) {
  for (unsigned at = blockIdx.x * kWarps + threadIdx.x / 32; at < batch.count;
       at += gridDim.x * kWarps) {
    encode<kFeedback>(batch.chunks[at]);
  }
}

}  // namespace

void encode_in_warps(cudaStream_t stream, const Batch& batch, bool feedback) {
  launch(stream, {.grid = (batch.count + kWarps - 1) / kWarps, .block = kThreads},
         feedback ? encode_warps<true> : encode_warps<false>, batch);
}

}  // namespace trigram::cuda::minmax_uint8
