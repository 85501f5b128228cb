#include "cuda/kernels/vector_ops.h"

#include <algorithm>

#include "core/device/norm_order.h"
#include "cuda/kernels/block_sum.h"
#include "cuda/kernels/groups.h"

namespace trigram::cuda {
namespace {

static_assert(kBlock == norm_order::kThreads && kNormScratch == norm_order::kMostRanges);

__device__ __forceinline__ double square(float x) {
  return __dmul_rn(static_cast<double>(x), static_cast<double>(x));
}

// One block sums the squares of one range of the vector; each thread has four partial sums.
__global__ void __launch_bounds__(kBlock)
    squares_kernel(std::size_t n, std::size_t range, Floats x, double* sums) {
  __shared__ double shared[kBlock / 32];
  const std::size_t begin = blockIdx.x * range, end = begin + range < n ? begin + range : n;
  double own[4] = {};
  for (std::size_t i = begin + 4 * threadIdx.x; i < end; i += norm_order::kSums) {
    if (i + 4 <= end) {
      const Four four = x.load_four(i);
      for (int j = 0; j < 4; ++j) own[j] += square(four.v[j]);
    } else {
      // Constant loop bounds make the indices constants, so that the sums stay in registers.
#pragma unroll
      for (unsigned j = 0; j < 4; ++j)
        if (i + j < end) own[j] += square(x.load(i + j));
    }
  }
  const double sum = block_sum<kBlock>((own[0] + own[2]) + (own[1] + own[3]), shared);
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
  const std::size_t range = norm_order::range_of(n);
  const auto blocks = static_cast<unsigned>(std::max<std::size_t>(1, (n + range - 1) / range));
  launch(stream, {.grid = blocks, .block = kBlock}, squares_kernel, n, range,
         Floats(const_cast<float*>(x), 0), scratch);
  launch(stream, {.block = kBlock}, root_kernel, blocks, static_cast<const double*>(scratch), norm);
}

}  // namespace trigram::cuda
