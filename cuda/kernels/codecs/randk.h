#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/codecs/random_subset.h"

/// The kernels of the codec `randk` (core/codecs/randk.cpp gives meaning and wire format), for one
/// chunk.
namespace trigram::cuda::randk {

/// The lowest bit of `not_finite` tells whether `x` has a NaN or an infinity.
void encode(cudaStream_t stream, const float* x, std::uint64_t seed, const RandomSubset& subset,
            float scale, std::uint32_t kept, const std::uint32_t* not_finite, std::byte* wire);
/// `subset` may have any seed; the wire's seed replaces it.
void decode(cudaStream_t stream, const std::byte* wire, const RandomSubset& subset,
            std::uint32_t kept, float* x, std::size_t numel);

}  // namespace trigram::cuda::randk
