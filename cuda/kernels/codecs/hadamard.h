#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// The kernel of core/codecs/hadamard.h, which gives the same values to the last bit.
namespace trigram::cuda::hadamard {

/// Transforms the whole groups of `group` elements among the `numel` elements of `x`, and copies
/// the elements after them. `out` may be `x`.
void transform(cudaStream_t stream, float* out, const float* x, std::size_t numel,
               std::size_t group);

}  // namespace trigram::cuda::hadamard
