#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// MinMaxUInt8's encoding as three kernels, for comparison with the fused kernels. Each of the
/// three, for minima, maxima and codes, reads every element.
namespace trigram::cuda::unfused {

struct Chunk {
  const float* x;     // 16-byte aligned
  std::byte* wire;    // 4-byte aligned
  std::size_t numel;  // a multiple of 32
};

/// The extremes of one chunk, as keys that are ordered like the floats. The minimum's key is
/// complemented, so that both are found as maxima.
struct Extremes {
  std::uint32_t inverted_low, high;
};

/// `chunks` and `extremes` have `count` elements each, in device memory; `longest` is the length of
/// the longest chunk.
void encode(cudaStream_t stream, const Chunk* chunks, unsigned count, std::size_t longest,
            Extremes* extremes);

}  // namespace trigram::cuda::unfused
