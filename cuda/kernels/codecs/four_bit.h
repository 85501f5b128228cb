#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// The kernels of the codecs e3m0 and int4 (core/codecs/four_bit.cpp gives formulas and wire
/// formats), for one chunk.
namespace trigram::cuda::four_bit {

enum class Format : int { e3m0, int4 };

/// A chunk and its wire.
struct Chunk {
  float* x;
  std::byte* wire;
  std::size_t numel, block;  // block: elements that share a scale
  Format format;
};

void encode(cudaStream_t stream, const Chunk& chunk);
void decode(cudaStream_t stream, const Chunk& chunk);

}  // namespace trigram::cuda::four_bit
