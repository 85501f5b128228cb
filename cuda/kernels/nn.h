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

// Layers of language models. All but the softmax of attention, which follows a matrix product, give
// the same bits as the host.
void add(cudaStream_t stream, std::size_t n, const float* x, float* y);
void embedding(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* table,
               const std::uint8_t* indices, float* y);
void embedding_grad(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* dy,
                    const std::uint8_t* indices, float beta, float* dtable);
void layer_norm(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* x,
                const float* gain, const float* bias, float* normalised, float* scale, float* y);
void layer_norm_grad(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* gain,
                     const float* scale, const float* dy, float* normalised, float* dx);
void gelu(cudaStream_t stream, std::size_t n, const float* x, float* y);
void gelu_grad(cudaStream_t stream, std::size_t n, const float* x, float* dx);
/// Turns the products q . k [heads, length, length] of a sequence into probabilities.
void causal_softmax(cudaStream_t stream, std::size_t heads, std::size_t length, float scale,
                    float* p);
/// Turns the gradients of probabilities into the gradients of the products.
void causal_softmax_grad(cudaStream_t stream, std::size_t heads, std::size_t length, float scale,
                         const float* p, float* d);
void gru(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* x, const float* h,
         const float* previous, float* gates, float* state);
void gru_grad(cudaStream_t stream, std::size_t rows, std::size_t cols, const float* gates,
              const float* h, const float* previous, const float* dstate, float* dx, float* dh,
              float* dprevious);

void orthonormalise(cudaStream_t stream, std::size_t count, std::size_t length, bool replaces,
                    float* x);
void normalise(cudaStream_t stream, std::size_t count, std::size_t length, float* x);

}  // namespace trigram::cuda
