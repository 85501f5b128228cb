#include "cuda/kernels/norm.h"

#include <algorithm>

#include "cuda/kernels/block_sum.h"
#include "cuda/kernels/groups.h"

namespace trigram::cuda {
namespace {

__device__ __forceinline__ double square(float x) {
  return __dmul_rn(static_cast<double>(x), static_cast<double>(x));
}

// One block's part of the sum of squares.
__global__ void __launch_bounds__(kBlock) squares_kernel(Cut cut, Floats x, double* sums) {
  __shared__ double shared[kBlock / 32];
  const std::size_t groups = cut.groups(), tail = cut.head + 4 * groups, thread = grid_thread();
  double sum = 0;
  for (std::size_t g = thread; g < groups; g += grid_threads()) {
    const Four four = x.load_four(cut.head + 4 * g);
    for (int j = 0; j < 4; ++j) sum += square(four.v[j]);
  }
  if (thread < cut.n - tail) sum += square(x.load(tail + thread));
  sum = block_sum<kBlock>(sum, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(kBlock)
    root_kernel(unsigned count, const double* sums, double* norm) {
  __shared__ double shared[kBlock / 32];
  double sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += kBlock) sum += sums[i];
  sum = block_sum<kBlock>(sum, shared);
  if (threadIdx.x == 0) *norm = __dsqrt_rn(sum);
}

}  // namespace

void norm2(cudaStream_t stream, std::size_t n, const float* x, double* scratch, double* norm) {
  // Neither the grid nor the cut may depend on the GPU or on where x begins.
  const Cut cut{n, 0};
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::size_t>(cut.groups() / (4 * kBlock), 1, kNormScratch));
  launch(stream, {.grid = blocks, .block = kBlock}, squares_kernel, cut,
         Floats(const_cast<float*>(x), 0), scratch);
  launch(stream, {.block = kBlock}, root_kernel, blocks, static_cast<const double*>(scratch), norm);
}

}  // namespace trigram::cuda
