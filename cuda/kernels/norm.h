#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace trigram::cuda {

/// f64 values that `norm2` needs to work with.
inline constexpr std::size_t kNormScratch = 512;

/// *norm = the Euclidean norm of x, summed in f64, in the host's order (core/device/norm_order.h).
/// `scratch` holds kNormScratch values.
void norm2(cudaStream_t stream, std::size_t n, const float* x, double* scratch, double* norm);

}  // namespace trigram::cuda
