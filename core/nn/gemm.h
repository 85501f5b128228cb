#pragma once

#include "core/nn_ops.h"

namespace trigram {

/// c = op(a) * op(b) + beta * c on plain row-major arrays, with Eigen on one thread. The same
/// binary adds in the same order on every machine.
void gemm(const Gemm& shape, const float* a, const float* b, float beta, float* c);

}  // namespace trigram
