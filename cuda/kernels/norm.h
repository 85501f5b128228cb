#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace trigram::cuda {

/// Number of f64 values of scratch memory that `norm2` needs.
inline constexpr std::size_t kNormScratch = 512;

/// Sets *norm to the Euclidean norm of x, summed in f64 in the host's order
/// (core/device/norm_order.h). `scratch` has kNormScratch values.
void norm2(cudaStream_t stream, std::size_t n, const float* x, double* scratch, double* norm);

}  // namespace trigram::cuda
