#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/codecs/random_permutation.h"

/// Kernels shared by codecs that send a part of a vector, or a compressed form of it.
namespace trigram::cuda {

/// Fills `x` with zeros, or with the f32 at `first_value` if that is NaN.
void fill_background(cudaStream_t stream, const std::byte* first_value, float* x,
                     std::size_t numel);

/// Sets the lowest bit of `flag` if `x` contains a NaN or an infinity.
void flag_not_finite(cudaStream_t stream, const float* x, std::size_t numel, std::uint32_t* flag);

}  // namespace trigram::cuda

/// The kernels of the codec `randk` (core/codecs/randk.cpp gives meaning and wire format), for one
/// chunk.
namespace trigram::cuda::randk {

/// The lowest bit of `not_finite` tells whether `x` has a NaN or an infinity; all values on the
/// wire are NaN then.
void encode(cudaStream_t stream, const float* x, std::uint64_t seed,
            const RandomPermutation& permutation, float scale, std::uint32_t kept,
            const std::uint32_t* not_finite, std::byte* wire);
/// `permutation` may have any seed; the wire's seed replaces it.
void decode(cudaStream_t stream, const std::byte* wire, const RandomPermutation& permutation,
            std::uint32_t kept, float* x, std::size_t numel);

}  // namespace trigram::cuda::randk

/// The kernels of the codec `topk` (core/codecs/topk.cpp gives meaning and wire format), for one
/// chunk. A radix select on magnitudes finds the smallest chosen magnitude, and how many elements
/// of that magnitude are chosen. Then the chosen elements are counted and written in the order of
/// their indices.
namespace trigram::cuda::topk {

/// The scratch memory on the device for one chunk. The first `zeroed_bytes` of its `bytes` bytes
/// must be zero.
struct ScratchSize {
  std::size_t bytes, zeroed_bytes;
};
ScratchSize scratch_size(std::size_t numel);

void encode(cudaStream_t stream, const float* x, std::size_t numel, std::size_t kept,
            std::byte* wire, void* scratch);
/// Ignores indices beyond the vector, which no encoder writes.
void decode(cudaStream_t stream, const std::byte* wire, std::size_t kept, float* x,
            std::size_t numel);

}  // namespace trigram::cuda::topk
