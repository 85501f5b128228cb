#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// The kernels of the codecs whose blocks of elements share a scale (core/codecs/four_bit.cpp,
/// int2.cpp and fp8.cpp give formulas and wire formats), for one chunk.
namespace trigram::cuda::scaled_blocks {

enum class Format { e3m0, int4, int2, fp8_e4m3, fp8_e5m2 };

/// A chunk and its wire.
struct Chunk {
  float* x;
  std::byte* wire;
  std::size_t numel, block;  // block: elements that share a scale
};

void encode(cudaStream_t stream, Format format, const Chunk& chunk);
void decode(cudaStream_t stream, Format format, const Chunk& chunk);
/// Elements whose codes share a byte.
std::size_t codes_per_byte(Format format);

}  // namespace trigram::cuda::scaled_blocks
