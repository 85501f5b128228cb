#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// The loops of CudaDevice, queued on a stream: n elements anywhere in device memory. Bit for bit
/// those of HostDevice.
namespace trigram::cuda {

/// x[i] = value, of the size of T; 1, 2 or 4 bytes.
template <class T>
void fill(cudaStream_t stream, std::size_t n, T* x, T value);

}  // namespace trigram::cuda
