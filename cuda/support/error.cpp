#include "cuda/support/error.h"

#include <fmt/format.h>

namespace trigram {

CudaError::CudaError(const std::string& call, cudaError_t code)
    : std::runtime_error(
          fmt::format("{}: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code))) {}

CublasError::CublasError(const std::string& call, cublasStatus_t code)
    : std::runtime_error(fmt::format("{}: {}", call, cublasGetStatusString(code))) {}

}  // namespace trigram
