#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// Kernels shared by codecs that send a part of a vector, or a compressed form of it.
namespace trigram::cuda {

/// Fills `x` with zeros, or with the f32 at `first_value` if that is NaN.
void fill_background(cudaStream_t stream, const std::byte* first_value, float* x,
                     std::size_t numel);

/// Sets the lowest bit of `flag` if `x` contains a NaN or an infinity.
void flag_not_finite(cudaStream_t stream, const float* x, std::size_t numel, std::uint32_t* flag);

}  // namespace trigram::cuda
