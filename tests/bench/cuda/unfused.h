#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// MinMaxUInt8's encoding as three kernels, each of which reads every element: the minima, the
/// maxima, the codes. What the fused kernels are compared with.
namespace trigram::cuda::unfused {

struct Chunk {
  const float* x;     // 16-byte aligned
  std::byte* wire;    // 4-byte aligned
  std::size_t numel;  // a multiple of 32
};

/// Bits of the extremes of one chunk, in the order of the values.
struct Extremes {
  std::uint32_t above_low, high;
};

/// `chunks` and `extremes` are `count` each, in device memory; `longest` is their greatest length.
void encode(cudaStream_t stream, const Chunk* chunks, unsigned count, std::size_t longest,
            Extremes* extremes);

}  // namespace trigram::cuda::unfused
