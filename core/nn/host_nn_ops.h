#pragma once

#include "core/nn_ops.h"

namespace trigram {

/// Neural-network operations on host memory. Every sum has a fixed order and nothing uses libm, so
/// the bits are the same on every machine. Any thread may call the operations. Tensors must be f32
/// (labels u8), have values, and hold at least as many elements as the dimensions require
/// (InvariantError otherwise).
NnOps& host_nn_ops();

/// c = op(a) * op(b) + beta * c on plain row-major arrays, with Eigen on one thread. The same
/// binary adds in the same order on every machine.
void gemm(const Gemm& shape, const float* a, const float* b, float beta, float* c);
/// The same for matrices that are parts of larger ones: lda, ldb and ldc are the distances between
/// the beginnings of their rows.
void gemm(const Gemm& shape, const float* a, std::size_t lda, const float* b, std::size_t ldb,
          float beta, float* c, std::size_t ldc);

}  // namespace trigram
