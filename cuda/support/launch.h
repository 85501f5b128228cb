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
  /// Dynamic shared memory per block, in bytes. Above 48 KiB, call allow_shared_bytes first.
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;  // neighbouring blocks that run concurrently; values above 1 need sm_90
};

std::string describe(const Launch& shape);

/// The value of an attribute of the current GPU.
int device_attribute(cudaDeviceAttr attribute);

/// The number of multiprocessors of the first GPU for which it was called; a process uses GPUs of
/// one kind.
unsigned multiprocessors();

/// Queues a kernel on `stream`. Throws CudaError if it cannot be launched with this configuration.
/// Kernels are launched through this function instead of `<<< >>>`, so that files with kernels are
/// also valid C++.
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, const Launch& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  if (shape.cluster > 1) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {shape.cluster, 1, 1};
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
