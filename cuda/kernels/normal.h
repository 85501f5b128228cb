#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/random/philox.h"

namespace trigram::cuda {

/// x[i] = the result of the (i+1)-th call of `random.normal()`. One key gives at most 2^34 words,
/// and each number takes four words.
void fill_normal(cudaStream_t stream, std::size_t n, float* x, const Philox& random);

}  // namespace trigram::cuda
