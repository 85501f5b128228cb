#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// What codes that send a part of a vector, or a digest of it, share.
namespace trigram::cuda {

/// Fills `x` with zeros; where the f32 at `first_value` is NaN, with that.
void fill_background(cudaStream_t stream, const std::byte* first_value, float* x,
                     std::size_t numel);

/// Sets the lowest bit of `flag` if there is a NaN or an infinity in `x`.
void flag_not_finite(cudaStream_t stream, const float* x, std::size_t numel, std::uint32_t* flag);

}  // namespace trigram::cuda
