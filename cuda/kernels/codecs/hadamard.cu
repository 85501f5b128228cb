#include "cuda/kernels/codecs/hadamard.h"

#include "core/codecs/hadamard.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::hadamard {
namespace {

constexpr unsigned kWarp = 32, kThreads = 256, kAllLanes = 0xFFFFFFFF;
static_assert(trigram::hadamard::kMost == kWarp, "a warp transforms whole groups");

/// A thread handles one element.
__global__ void __launch_bounds__(kThreads)
    transform_groups(float* out, const float* x, std::size_t numel, std::size_t transformed,
                     unsigned group, float factor) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  float own = i < transformed ? __fmul_rn(x[i], factor) : 0.f;
  for (unsigned distance = 1; distance < group; distance *= 2) {
    const float other = __shfl_xor_sync(kAllLanes, own, distance);
    own = threadIdx.x & distance ? __fsub_rn(other, own) : __fadd_rn(own, other);
  }
  if (i < transformed) out[i] = own;
  else if (i < numel) out[i] = x[i];
}

}  // namespace

void transform(cudaStream_t stream, float* out, const float* x, std::size_t numel,
               std::size_t group) {
  if (numel == 0) return;
  const Launch shape{.grid = static_cast<unsigned>((numel + kThreads - 1) / kThreads),
                     .block = kThreads};
  launch(stream, shape, transform_groups, out, x, numel, numel / group * group,
         static_cast<unsigned>(group), trigram::hadamard::scale(group));
}

}  // namespace trigram::cuda::hadamard
