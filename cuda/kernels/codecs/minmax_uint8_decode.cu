#include "cuda/kernels/codecs/minmax_uint8.h"
#include "cuda/kernels/codecs/minmax_uint8_mean.h"
#include "cuda/kernels/codecs/tables.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::minmax_uint8 {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kWords = kDecodeTile / kThreads / 4;  // words per thread

__global__ void __launch_bounds__(kThreads, 3) decode_tiles(const DecodeBatch batch) {
  __shared__ MeanReader<kThreads>::Shared shared;
  const Decoded chunk = batch.chunks[chunk_of_tile(batch.chunks, batch.count, blockIdx.x)];
  const std::size_t first = (blockIdx.x - chunk.first_tile) * std::size_t{kDecodeTile / 4};
  const std::size_t end = (std::size_t{chunk.numel} + 3) / 4;
  float4 v[kWords];
  MeanReader<kThreads>(shared).read(v, batch.wires, chunk.first_wire, batch.wires_per_mean,
                                    batch.scale, first, end);
  const bool aligned = is_aligned(chunk.x, 16);
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const std::size_t w = first + i * kThreads + threadIdx.x;
    store_word(chunk.x, w, v[i], elements_of_word(chunk.numel, w), aligned);
  }
}

}  // namespace

void decode(cudaStream_t stream, const DecodeBatch& batch) {
  launch(stream, {.grid = batch.tiles, .block = kThreads}, decode_tiles, batch);
}

}  // namespace trigram::cuda::minmax_uint8
