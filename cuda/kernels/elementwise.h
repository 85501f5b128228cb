#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/tensor.h"

/// The loops of CudaDevice, queued on a stream, over n elements anywhere in device memory. They
/// give the same bits as HostDevice, except for the payload of NaNs.
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
void cut_below(cudaStream_t stream, std::size_t n, float magnitude, float* x);

/// dst[i] = src[i] between any two different element types.
void convert(cudaStream_t stream, std::size_t n, DType to, std::byte* dst, DType from,
             const std::byte* src);

}  // namespace trigram::cuda
