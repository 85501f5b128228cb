#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// The kernels of the codec `topk` (core/codecs/topk.cpp gives meaning and wire format), for one
/// chunk. A radix select on magnitudes finds the smallest magnitude that is chosen, and how many
/// elements of that magnitude are chosen. Then the chosen elements are counted and written in the
/// order of their indices.
namespace trigram::cuda::topk {

/// Device memory for one chunk of `numel` elements: `bytes` bytes, the first `zeroed` of which must
/// be zero.
struct Room {
  std::size_t bytes, zeroed;
};
Room room_for(std::size_t numel);

void encode(cudaStream_t stream, const float* x, std::size_t numel, std::size_t kept,
            std::byte* wire, void* room);
/// Ignores indices beyond the vector, which no encoder writes.
void decode(cudaStream_t stream, const std::byte* wire, std::size_t kept, float* x,
            std::size_t numel);

}  // namespace trigram::cuda::topk
