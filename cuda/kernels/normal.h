#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/random/philox.h"

namespace trigram::cuda {

/// x[i] = what `random.normal()` gives when it is called for the (i+1)-th time. All draws of one
/// key are at most 2^34 words, of which a number takes four.
void fill_normal(cudaStream_t stream, std::size_t n, float* x, const Philox& random);

}  // namespace trigram::cuda
