#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace trigram {

/// A CUDA runtime call that failed. The cause is often an earlier kernel: kernels fail after their
/// launch, and every later call reports the error.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& call, cudaError_t code);
};

/// A cuBLAS call that failed.
class CublasError : public std::runtime_error {
 public:
  CublasError(const std::string& call, cublasStatus_t code);
};

namespace cuda {

/// Throws CudaError, which names `call`, unless `code` is success.
inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) [[unlikely]]
    throw CudaError(call, code);
}

inline void check(cublasStatus_t code, const char* call) {
  if (code != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    throw CublasError(call, code);
}

}  // namespace cuda
}  // namespace trigram
