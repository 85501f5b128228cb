#include <cublas_v2.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "core/nn/host_nn_ops.h"
#include "tests/cuda_emulation/queue.h"

namespace cuda_emulation {
struct Blas {
  cudaStream_t stream = nullptr;
};
namespace {
bool multiplies_as_host() {
  const char* const how = std::getenv("TRIGRAM_EMULATED_GEMM");
  return how && std::string_view(how) == "host";
}
}  // namespace
}  // namespace cuda_emulation

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "the operation completed successfully";
    case CUBLAS_STATUS_INVALID_VALUE: return "an unsupported value or parameter was passed";
  }
  return "unknown";
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cuda_emulation::Blas;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const float* alpha, const float* a, int lda,
                           const float* b, int ldb, const float* beta, float* c, int ldc) {
  const bool ta = op_a == CUBLAS_OP_T, tb = op_b == CUBLAS_OP_T;
  if (m < 0 || n < 0 || k < 0 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || lda < 1 ||
      ldb < 1 || ldc < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const std::lock_guard lock(cuda_emulation::queues().mutex);
  if (!cuda_emulation::shared_stream(handle->stream)) return CUBLAS_STATUS_INVALID_VALUE;
  // Matrices are stored column by column.
  if (cuda_emulation::multiplies_as_host()) {
    const auto size = [](int x) { return static_cast<std::size_t>(x); };
    const trigram::Gemm transposed = {
        .m = size(n), .n = size(m), .k = size(k), .transpose_a = tb, .transpose_b = ta};
    if (*alpha != 1) return CUBLAS_STATUS_INVALID_VALUE;
    const bool whole = lda == (ta ? k : m) && ldb == (tb ? n : k) && ldc == m;
    cuda_emulation::enqueue(handle->stream, [=, beta = *beta] {
      if (whole) trigram::gemm(transposed, b, a, beta, c);
      else trigram::gemm(transposed, b, size(ldb), a, size(lda), beta, c, size(ldc));
      return true;
    });
    return CUBLAS_STATUS_SUCCESS;
  }
  cuda_emulation::enqueue(handle->stream, [=, alpha = *alpha, beta = *beta] {
    const auto at = [](int row, int column, int ld) {
      return static_cast<std::ptrdiff_t>(column) * ld + row;
    };
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        // cuBLAS does not specify the order of its sums, and the order may differ between elements.
        // So each sum here begins at a different position.
        float sum = 0;
        for (int turn = 0, l = k > 0 ? (i + j) % k : 0; turn < k;
             ++turn, l = l + 1 < k ? l + 1 : 0) {
          sum += a[ta ? at(l, i, lda) : at(i, l, lda)] * b[tb ? at(j, l, ldb) : at(l, j, ldb)];
        }
        float& out = c[at(i, j, ldc)];
        out = alpha * sum + (beta == 0 ? 0 : beta * out);
      }
    }
    return true;
  });
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc,
                                         long long stride_c, int batches) {
  if (batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < batches; ++i) {
    const cublasStatus_t status =
        cublasSgemm(handle, op_a, op_b, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b,
                    ldb, beta, c + i * stride_c, ldc);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
