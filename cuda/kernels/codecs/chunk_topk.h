#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// The kernels of the codec chunk_topk (core/codecs/chunk_topk.cpp gives meaning and wire format),
/// for a vector of `numel` elements.
namespace trigram::cuda::chunk_topk {

void encode(cudaStream_t stream, const float* x, std::size_t numel, std::size_t keep,
            std::byte* wire);
void decode(cudaStream_t stream, const std::byte* wire, std::size_t numel, std::size_t keep,
            float* x);

}  // namespace trigram::cuda::chunk_topk
