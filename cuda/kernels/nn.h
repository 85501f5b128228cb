#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/nn_ops.h"

/// Neural-network operations, queued on a stream. Shapes are as in NnOps. All sums have a fixed
/// order. Window operations, relu and bias give the same bits as the host.
namespace trigram::cuda {

void bias(cudaStream_t stream, std::size_t rows, std::size_t cols, float* x, const float* bias);
void bias_grad(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* dx,
               float* dbias);
void relu(cudaStream_t stream, std::size_t n, float* x);
void relu_grad(cudaStream_t stream, std::size_t n, const float* y, float* dx);

// Only for windows with fewer than 2^31 elements in images and in columns.
void im2col(cudaStream_t stream, const Window& window, const float* images, float* columns);
void col2im(cudaStream_t stream, const Window& window, const float* columns, float* images);
void max_pool(cudaStream_t stream, const Window& window, const float* x, float* y, float* argmax);
void max_pool_grad(cudaStream_t stream, const Window& window, const float* dy, const float* argmax,
                   float* dx);

/// A label that is not a class makes the loss NaN.
void softmax_xent(cudaStream_t stream, std::size_t rows, std::size_t classes, const float* logits,
                  const std::uint8_t* labels, float* dlogits, float* loss);

void orthonormalise(cudaStream_t stream, std::size_t count, std::size_t length, float* x);

}  // namespace trigram::cuda
