#include "tests/cuda_emulation/launch_api.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/cuda_emulation/gpu.h"
#include "tests/cuda_emulation/kernel_run.h"
#include "tests/cuda_emulation/queue.h"
#include "tests/cuda_emulation/status.h"

namespace cuda_emulation {
namespace {

// The dynamic shared memory that a block of this kernel may have, in bytes. The mutex of the queues
// guards it.
int& allowed_shared_bytes(const void* kernel) {
  static std::map<const void*, int> limits;
  return limits.try_emplace(kernel, kSharedPerBlock).first->second;
}

Shape shape_of(const cudaLaunchConfig_t& config) {
  Shape shape{config.gridDim, config.blockDim, config.dynamicSmemBytes};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      shape.cluster = attribute.val.clusterDim.x;
  }
  return shape;
}

cudaError_t check_shape(const Shape& shape, const void* kernel) {
  const dim3 g = shape.grid, b = shape.block;
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0 || g.y > 65535 ||
      g.z > 65535 || b.x * b.y * b.z > kThreadsPerBlock || b.z > 64) {
    return cudaErrorInvalidConfiguration;
  }
  if (shape.shared_bytes > static_cast<std::size_t>(allowed_shared_bytes(kernel)))
    return cudaErrorInvalidValue;
  if (shape.cluster == 0 || shape.cluster > 8 || g.x % shape.cluster != 0 ||
      (shape.cluster > 1 && g.y * g.z != 1)) {
    return cudaErrorInvalidConfiguration;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   std::function<void()> thread) {
  const std::lock_guard lock(queues().mutex);
  const Shape shape = shape_of(config);
  if (const cudaError_t error = check_shape(shape, kernel)) return remember(error);
  const auto stream = shared_stream(config.stream);
  if (!stream || !is_current(stream->device)) return remember(cudaErrorInvalidResourceHandle);
  enqueue(config.stream, [shape, thread = std::move(thread)] {
    if (queues().kernel_error.empty()) queues().kernel_error = run_kernel(shape, thread);
    return true;
  });
  return remember(kernel_status());
}

cudaError_t allow_shared_bytes(const void* kernel, int nbytes) {
  const std::lock_guard lock(queues().mutex);
  if (nbytes > kSharedPerBlockOptin) return remember(cudaErrorInvalidValue);
  allowed_shared_bytes(kernel) = std::max(nbytes, kSharedPerBlock);
  return remember(cudaSuccess);
}

cudaError_t get_attributes(cudaFuncAttributes* attributes) {
  const char* const ptx = std::getenv("TRIGRAM_EMULATED_PTX");
  *attributes = {.ptxVersion = ptx ? std::atoi(ptx) : 90, .binaryVersion = 90};
  return remember(cudaSuccess);
}

cudaError_t max_active_blocks(int* blocks, const void*, int block, std::size_t shared) {
  const bool fits = block <= static_cast<int>(kThreadsPerBlock) && shared <= kSharedPerBlockOptin;
  *blocks = fits ? kBlocksPerMultiprocessor : 0;
  return remember(cudaSuccess);
}

cudaError_t max_active_clusters(int* clusters, const void* kernel,
                                const cudaLaunchConfig_t& config) {
  const std::lock_guard lock(queues().mutex);
  const Shape shape = shape_of(config);
  if (const cudaError_t error = check_shape(shape, kernel)) return remember(error);
  *clusters =
      std::max(1, kMultiprocessors * kBlocksPerMultiprocessor / static_cast<int>(shape.cluster));
  return remember(cudaSuccess);
}

}  // namespace cuda_emulation
