#pragma once

#include <cooperative_groups.h>
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

/// The thread-block cluster of the running thread, if the architecture has clusters (compute
/// capability 9.0); otherwise every block counts as a cluster.
namespace trigram::cuda::cluster {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900

__device__ __forceinline__ unsigned rank() { return 0; }
__device__ __forceinline__ unsigned size() { return 1; }
__device__ __forceinline__ void sync() { __syncthreads(); }
template <class T>
__device__ __forceinline__ T* in_block(T* address, unsigned) {
  return address;
}

#else

__device__ __forceinline__ unsigned rank() {
  return cooperative_groups::this_cluster().block_rank();
}
__device__ __forceinline__ unsigned size() {
  return cooperative_groups::this_cluster().num_blocks();
}
__device__ __forceinline__ void sync() { cooperative_groups::this_cluster().sync(); }
/// The address in block `rank` that corresponds to `address` in this block's dynamic shared memory.
template <class T>
__device__ __forceinline__ T* in_block(T* address, unsigned rank) {
  return cooperative_groups::this_cluster().map_shared_rank(address, rank);
}

#endif

}  // namespace trigram::cuda::cluster
