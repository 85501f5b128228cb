#pragma once

#include "core/nn_ops.h"

namespace trigram {

/// c = op(a) * op(b) + beta * c on plain row-major arrays. Every element of c is the sum
/// beta * c + a[0] * b[0] + a[1] * b[1] + ..., rounded after each product and each addition, in
/// this order: the same bits on every machine, however wide its vectors.
void gemm(const Gemm& shape, const float* a, const float* b, float beta, float* c);

}  // namespace trigram
