#pragma once

#include <cuda_runtime.h>

namespace trigram::cuda {

/// The dynamic shared memory of the block, 16-byte aligned.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
#ifdef __CUDACC__
  extern __shared__ __align__(16) unsigned char memory[];
  return reinterpret_cast<T*>(memory);
#else
  return static_cast<T*>(cuda_emulation::dynamic_shared());
#endif
}

}  // namespace trigram::cuda
