#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/random/philox.h"
#include "core/tensor.h"

/// Operations of CudaDevice on n elements in device memory, at any address. They are queued on a
/// stream, and give the same bits as HostDevice, except for the payload of NaNs.
namespace trigram::cuda {

/// x[i] = value. T has 1, 2 or 4 bytes.
template <class T>
void fill(cudaStream_t stream, std::size_t n, T* x, T value);

/// y = a * x + b * y in f32, f16 or bf16. 16-bit elements are computed in f32 and then rounded
/// once. If b = 0, y is not read.
void axpby(cudaStream_t stream, std::size_t n, DType type, float a, const std::byte* x, float b,
           std::byte* y);

/// y = max(x, y), element by element.
void maximum(cudaStream_t stream, std::size_t n, const float* x, float* y);
/// Sets elements with |x[i]| < magnitude to 0.
void cut_below(cudaStream_t stream, std::size_t n, float magnitude, float* x);

/// dst[i] = src[i] between any two different element types.
void convert(cudaStream_t stream, std::size_t n, DType to, std::byte* dst, DType from,
             const std::byte* src);

/// The number of f64 values in the scratch memory of `norm2`.
inline constexpr std::size_t kNormScratch = 512;

/// Sets *norm to the Euclidean norm of x, summed in f64 in the host's order
/// (core/device/norm_order.h). `scratch` has kNormScratch values.
void norm2(cudaStream_t stream, std::size_t n, const float* x, double* scratch, double* norm);

/// x[i] = the result of the (i+1)-th call of `random.normal()`. One key gives at most 2^34 words,
/// and each number takes four words.
void fill_normal(cudaStream_t stream, std::size_t n, float* x, const Philox& random);

}  // namespace trigram::cuda
