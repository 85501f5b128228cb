#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace trigram {

/// A call of the CUDA runtime that failed. Such an error is often an earlier kernel's: kernels fail
/// after their launch, and every call that follows reports it.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& call, cudaError_t code);
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// A call of cuBLAS that failed.
class CublasError : public std::runtime_error {
 public:
  CublasError(const std::string& call, cublasStatus_t code);
  cublasStatus_t code() const { return code_; }

 private:
  cublasStatus_t code_;
};

namespace cuda {

/// Throws CudaError, with the name of the `call` that returned it, unless `code` is success.
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
