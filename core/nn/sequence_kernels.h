#pragma once

#include <cstddef>
#include <cstdint>

#include "core/nn_ops.h"

/// The operations of NnOps for language models, on plain host arrays. Sums over a row have the
/// order in which a GPU's warp adds, so that both give the same bits.
namespace trigram::sequence_kernels {

void embedding(std::size_t rows, std::size_t cols, const float* table, const std::uint8_t* indices,
               float* y);
void embedding_grad(std::size_t rows, std::size_t cols, const float* dy,
                    const std::uint8_t* indices, float beta, float* dtable);
void layer_norm(std::size_t rows, std::size_t cols, const float* x, const float* gain,
                const float* bias, float* normalised, float* scale, float* y);
void layer_norm_grad(std::size_t rows, std::size_t cols, const float* gain, const float* scale,
                     const float* dy, float* normalised, float* dx);
void gelu(std::size_t n, const float* x, float* y);
void gelu_grad(std::size_t n, const float* x, float* dx);
void attention(const Attention& shape, const float* qkv, float* probabilities, float* y);
void attention_grad(const Attention& shape, const float* qkv, const float* probabilities,
                    const float* dy, float* dprobabilities, float* dqkv);
void gru(std::size_t rows, std::size_t cols, const float* x, const float* h, const float* previous,
         float* gates, float* state);
void gru_grad(std::size_t rows, std::size_t cols, const float* gates, const float* h,
              const float* previous, const float* dstate, float* dx, float* dh, float* dprevious);

}  // namespace trigram::sequence_kernels
