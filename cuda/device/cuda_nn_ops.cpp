#include "cuda/device/cuda_nn_ops.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/operands.h"
#include "cuda/kernels/nn.h"
#include "cuda/kernels/vector_ops.h"
#include "cuda/support/error.h"

namespace trigram {
namespace {

// The number of elements of each tensor of a window operation.
struct Lengths {
  explicit Lengths(const Window& w)
      : images(w.batch * w.channels * w.height * w.width),
        pooled(w.batch * w.channels * w.out_height() * w.out_width()),
        columns(pooled * w.kernel * w.kernel) {
    TRIGRAM_CHECK(std::max(images, columns) < std::size_t{1} << 31,
                  "a window over images of {} and columns of {} elements", images, columns);
  }
  std::size_t images, pooled, columns;
};

int blas_size(std::size_t n) {
  TRIGRAM_CHECK(n <= std::numeric_limits<int>::max(), "a matrix of {} rows or columns", n);
  return static_cast<int>(n);
}

}  // namespace

CudaNnOps::CudaNnOps(cudaStream_t stream, Tensor workspace)
    : stream_(stream), workspace_(std::move(workspace)) {
  cuda::check(cublasCreate(&blas_), "cublasCreate");
  try {
    cuda::check(cublasSetStream(blas_, stream_), "cublasSetStream");
    cuda::check(cublasSetWorkspace(blas_, workspace_.data(), workspace_.nbytes()),
                "cublasSetWorkspace");
    // Disables TF32, whatever the environment says.
    cuda::check(cublasSetMathMode(blas_, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  } catch (...) {
    cublasDestroy(blas_);
    throw;
  }
}

CudaNnOps::~CudaNnOps() { cublasDestroy(blas_); }

void CudaNnOps::gemm(const Gemm& shape, const Tensor& a, const Tensor& b, float beta,
                     const Tensor& c) {
  const auto [m, n, k, ta, tb] = shape;
  const float* const x = operand(a, m * k);
  const float* const y = operand(b, k * n);
  float* const z = operand(c, m * n);
  if (m == 0 || n == 0) return;
  if (k == 0) {  // the product is zero
    auto* const bytes = reinterpret_cast<std::byte*>(z);
    if (beta == 0) cuda::fill(stream_, m * n, z, 0.0f);
    else if (beta != 1) cuda::axpby(stream_, m * n, DType::f32, beta, bytes, 0, bytes);
    return;
  }
  // cuBLAS uses column-major order, so it sees the transposes and computes c^T = op(b)^T op(a)^T.
  const int rows = blas_size(n), cols = blas_size(m), inner = blas_size(k);
  const float one = 1;
  cuda::check(
      cublasSgemm(blas_, tb ? CUBLAS_OP_T : CUBLAS_OP_N, ta ? CUBLAS_OP_T : CUBLAS_OP_N, rows, cols,
                  inner, &one, y, tb ? inner : rows, x, ta ? cols : inner, &beta, z, rows),
      "cublasSgemm");
}

void CudaNnOps::orthonormalise(std::size_t count, std::size_t length, const Tensor& x) {
  cuda::orthonormalise(stream_, count, length, operand(x, count * length));
}

void CudaNnOps::bias(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& bias) {
  cuda::bias(stream_, rows, cols, operand(x, rows * cols), operand(bias, cols));
}

void CudaNnOps::bias_grad(std::size_t rows, std::size_t cols, const Tensor& dx,
                          const Tensor& dbias) {
  cuda::bias_grad(stream_, rows, cols, operand(dx, rows * cols), operand(dbias, cols));
}

void CudaNnOps::relu(const Tensor& x) { cuda::relu(stream_, x.numel(), operand(x, x.numel())); }

void CudaNnOps::relu_grad(const Tensor& y, const Tensor& dx) {
  const std::size_t n = dx.numel();
  cuda::relu_grad(stream_, n, operand(y, n), operand(dx, n));
}

void CudaNnOps::im2col(const Window& window, const Tensor& images, const Tensor& columns) {
  const Lengths n(window);
  cuda::im2col(stream_, window, operand(images, n.images), operand(columns, n.columns));
}

void CudaNnOps::col2im(const Window& window, const Tensor& columns, const Tensor& images) {
  const Lengths n(window);
  cuda::col2im(stream_, window, operand(columns, n.columns), operand(images, n.images));
}

void CudaNnOps::max_pool(const Window& window, const Tensor& x, const Tensor& y,
                         const Tensor& argmax) {
  TRIGRAM_CHECK(window.padding == 0, "max_pool does not pad, {} asked", window.padding);
  const Lengths n(window);
  cuda::max_pool(stream_, window, operand(x, n.images), operand(y, n.pooled),
                 operand(argmax, n.pooled));
}

void CudaNnOps::max_pool_grad(const Window& window, const Tensor& dy, const Tensor& argmax,
                              const Tensor& dx) {
  const Lengths n(window);
  cuda::max_pool_grad(stream_, window, operand(dy, n.pooled), operand(argmax, n.pooled),
                      operand(dx, n.images));
}

void CudaNnOps::softmax_xent(std::size_t rows, std::size_t classes, const Tensor& logits,
                             const Tensor& labels, const Tensor& dlogits, const Tensor& loss) {
  TRIGRAM_CHECK(labels.dtype() == DType::u8 && !labels.is_phantom() && labels.numel() >= rows,
                "softmax_xent of {} rows with {} labels", rows, labels.numel());
  const std::size_t n = rows * classes;
  cuda::softmax_xent(stream_, rows, classes, operand(logits, n),
                     reinterpret_cast<const std::uint8_t*>(labels.data()), operand(dlogits, n),
                     operand(loss, 1));
}

}  // namespace trigram
