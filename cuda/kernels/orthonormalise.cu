#include "core/math/low_rank.h"
#include "cuda/kernels/block_sum.h"
#include "cuda/kernels/nn.h"
#include "cuda/support/launch.h"

namespace trigram::cuda {
namespace {

constexpr unsigned kThreads = 1024;

__device__ double dot(const float* x, const float* y, std::size_t n, double* shared) {
  double sum = 0;
  for (std::size_t i = threadIdx.x; i < n; i += kThreads) {
    sum += __dmul_rn(static_cast<double>(x[i]), static_cast<double>(y[i]));
  }
  return block_sum<kThreads>(sum, shared);
}

// Makes vector `j` orthogonal to the vectors before it, and gives it the norm 1. If it depends
// linearly on them, it becomes zero, and the result is false, on all threads. Each thread reads
// only those elements of a vector that it has written itself.
__device__ bool make_unit_orthogonal(std::size_t j, std::size_t length, float* x, double* shared) {
  float* const vector = x + j * length;
  const double before = __dsqrt_rn(dot(vector, vector, length, shared));
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < j; ++i) {
      const float* const basis = x + i * length;
      const double along = dot(vector, basis, length, shared);
      for (std::size_t k = threadIdx.x; k < length; k += kThreads) {
        vector[k] = static_cast<float>(vector[k] - along * basis[k]);
      }
    }
  }
  const double norm = __dsqrt_rn(dot(vector, vector, length, shared));
  // Values that are not finite stay so.
  const bool independent = norm > low_rank::kDependent * before || !isfinite(before);
  const double factor = independent ? 1 / norm : 0;
  for (std::size_t k = threadIdx.x; k < length; k += kThreads) {
    vector[k] = static_cast<float>(vector[k] * factor);
  }
  return independent;
}

// Modified Gram-Schmidt, twice per vector, with sums in f64. Each block has `count` vectors of its
// own, because every step depends on the step before.
__global__ void __launch_bounds__(kThreads)
    orthonormalise_kernel(std::size_t count, std::size_t length, bool replaces, float* x) {
  __shared__ double shared[kThreads / 32];
  x += blockIdx.x * count * length;
  for (std::size_t j = 0; j < count; ++j) {
    if (make_unit_orthogonal(j, length, x, shared) || !replaces) continue;
    for (std::size_t k = threadIdx.x; k < length; k += kThreads) {
      x[j * length + k] = low_rank::replacement(j, k);
    }
    make_unit_orthogonal(j, length, x, shared);
  }
}

}  // namespace

void orthonormalise(cudaStream_t stream, std::size_t count, std::size_t length, bool replaces,
                    float* x) {
  launch(stream, {.block = kThreads}, orthonormalise_kernel, count, length, replaces, x);
}

void normalise(cudaStream_t stream, std::size_t count, std::size_t length, float* x) {
  if (count == 0) return;
  launch(stream, {.grid = static_cast<unsigned>(count), .block = kThreads}, orthonormalise_kernel,
         std::size_t{1}, length, false, x);
}

}  // namespace trigram::cuda
