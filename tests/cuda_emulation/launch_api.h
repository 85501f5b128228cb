#pragma once

#include <functional>
#include <tuple>
#include <utility>

#include "tests/cuda_emulation/host_api.h"
#include "tests/cuda_emulation/vector_types.h"

/// Functions that launch kernels and query their attributes.

enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension = 4 };

union cudaLaunchAttributeValue {
  struct {
    unsigned x, y, z;
  } clusterDim;
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
};

struct cudaFuncAttributes {
  int ptxVersion, binaryVersion;
};

namespace cuda_emulation {
/// Queues a kernel after checking the limits of the GPU; `thread` runs one of its threads.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   std::function<void()> thread);
cudaError_t allow_shared_bytes(const void* kernel, int nbytes);
cudaError_t get_attributes(cudaFuncAttributes* attributes);
cudaError_t max_active_blocks(int* blocks, const void* kernel, int block, std::size_t shared);
cudaError_t max_active_clusters(int* clusters, const void* kernel,
                                const cudaLaunchConfig_t& config);
}  // namespace cuda_emulation

/// As in CUDA's C++ interface. The arguments are copied now, because the kernel runs later.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  std::tuple<std::remove_cv_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
  return cuda_emulation::launch(*config, reinterpret_cast<const void*>(kernel),
                                [kernel, values] { std::apply(kernel, values); });
}

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute, int value) {
  return cuda_emulation::allow_shared_bytes(reinterpret_cast<const void*>(kernel), value);
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  return cuda_emulation::get_attributes(attributes);
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int block,
                                                          std::size_t shared) {
  return cuda_emulation::max_active_blocks(blocks, reinterpret_cast<const void*>(kernel), block,
                                           shared);
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Kernel* kernel,
                                           const cudaLaunchConfig_t* config) {
  return cuda_emulation::max_active_clusters(clusters, reinterpret_cast<const void*>(kernel),
                                             *config);
}
