#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// The kernels of the codec dct_topk (core/codecs/dct_topk.cpp gives meaning and wire format), for
/// a vector of `numel` elements.
namespace trigram::cuda::dct_topk {

void encode(cudaStream_t stream, const float* x, std::size_t numel, std::size_t keep,
            std::byte* wire);
void decode(cudaStream_t stream, const std::byte* wire, std::size_t numel, std::size_t keep,
            float* x);

/// The number of elements of `sums` and of `senders` for a vector.
std::size_t coefficients(std::size_t numel);
/// Adds the coefficients of a wire to `sums`, and 1 to the elements of `senders` that belong to
/// them.
void add_coefficients(cudaStream_t stream, const std::byte* wire, std::size_t numel,
                      std::size_t keep, float* sums, float* senders);
/// x = the vector with the coefficients sums / senders, or 0 without senders.
void decode_mean(cudaStream_t stream, const float* sums, const float* senders, std::size_t numel,
                 float* x);

}  // namespace trigram::cuda::dct_topk
