#pragma once

#include <cuda_runtime.h>

/// Arithmetic that is rounded after every operation, as on the host. The compiler never fuses it.
namespace trigram::cuda {

__device__ __forceinline__ float mul(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float sub(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ float div(float a, float b) { return __fdiv_rn(a, b); }

}  // namespace trigram::cuda
