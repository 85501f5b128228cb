#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

#include "cuda/support/error.h"

namespace trigram::cuda {

/// The launch configuration of a kernel.
struct Launch {
  dim3 grid = 1;
  dim3 block = 256;
  /// Dynamic, in bytes per block; above 48 KiB, call allow_shared_bytes first.
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;  // neighbouring blocks that run concurrently; values above 1 need sm_90
  /// If true, all blocks run concurrently, and a grid that does not fit is an error.
  bool cooperative = false;
};

std::string describe(const Launch& shape);

/// Queues a kernel on `stream`. Throws CudaError if it cannot be launched with this configuration.
/// Kernels are launched through this function instead of `<<< >>>`, so that files with kernels are
/// also valid C++.
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, const Launch& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  cudaLaunchAttribute attributes[1] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  if (shape.cluster > 1) {
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {shape.cluster, 1, 1};
    config.numAttrs = 1;
  } else if (shape.cooperative) {
    attributes[0].id = cudaLaunchAttributeCooperative;
    attributes[0].val.cooperative = 1;
    config.numAttrs = 1;
  }
  const cudaError_t code =
      cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
  if (code != cudaSuccess) [[unlikely]] {
    throw CudaError("launch of a kernel as " + describe(shape), code);
  }
}

/// Lets a kernel use `nbytes` of dynamic shared memory per block. Call it once, at start-up.
template <class... Parameters>
void allow_shared_bytes(void (*kernel)(Parameters...), std::size_t nbytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(nbytes)),
        "cudaFuncSetAttribute");
}

}  // namespace trigram::cuda
