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

void CudaNnOps::orthonormalise(std::size_t count, std::size_t length, const Tensor& x,
                               Dependent dependent) {
  cuda::orthonormalise(stream_, count, length, dependent == Dependent::is_replaced,
                       operand(x, count * length));
}

void CudaNnOps::normalise(std::size_t count, std::size_t length, const Tensor& x) {
  cuda::normalise(stream_, count, length, operand(x, count * length));
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
  const std::size_t n = rows * classes;
  cuda::softmax_xent(stream_, rows, classes, operand(logits, n), byte_operand(labels, rows),
                     operand(dlogits, n), operand(loss, 1));
}

void CudaNnOps::add(const Tensor& x, const Tensor& y) {
  cuda::add(stream_, y.numel(), operand(x, y.numel()), operand(y, y.numel()));
}

void CudaNnOps::embedding(std::size_t rows, std::size_t cols, const Tensor& table,
                          const Tensor& indices, const Tensor& y) {
  cuda::embedding(stream_, rows, cols, operand(table, 256 * cols), byte_operand(indices, rows),
                  operand(y, rows * cols));
}

void CudaNnOps::embedding_grad(std::size_t rows, std::size_t cols, const Tensor& dy,
                               const Tensor& indices, float beta, const Tensor& dtable) {
  cuda::embedding_grad(stream_, rows, cols, operand(dy, rows * cols), byte_operand(indices, rows),
                       beta, operand(dtable, 256 * cols));
}

void CudaNnOps::layer_norm(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& gain,
                           const Tensor& bias, const Tensor& normalised, const Tensor& scale,
                           const Tensor& y) {
  const std::size_t n = rows * cols;
  cuda::layer_norm(stream_, rows, cols, operand(x, n), operand(gain, cols), operand(bias, cols),
                   operand(normalised, n), operand(scale, rows), operand(y, n));
}

void CudaNnOps::layer_norm_grad(std::size_t rows, std::size_t cols, const Tensor& gain,
                                const Tensor& scale, const Tensor& dy, const Tensor& normalised,
                                const Tensor& dx) {
  const std::size_t n = rows * cols;
  cuda::layer_norm_grad(stream_, rows, cols, operand(gain, cols), operand(scale, rows),
                        operand(dy, n), operand(normalised, n), operand(dx, n));
}

void CudaNnOps::gelu(const Tensor& x, const Tensor& y) {
  cuda::gelu(stream_, y.numel(), operand(x, y.numel()), operand(y, y.numel()));
}

void CudaNnOps::gelu_grad(const Tensor& x, const Tensor& dx) {
  cuda::gelu_grad(stream_, dx.numel(), operand(x, dx.numel()), operand(dx, dx.numel()));
}

void CudaNnOps::multiply_heads(const Gemm& shape, std::size_t heads, const Heads& a, const Heads& b,
                               float* c, std::size_t ldc, std::size_t stride_c) {
  const auto [m, n, k, ta, tb] = shape;
  const float one = 1, zero = 0;
  const auto stride = [](std::size_t elements) { return static_cast<long long>(elements); };
  // Column-major order, as in gemm().
  cuda::check(cublasSgemmStridedBatched(
                  blas_, tb ? CUBLAS_OP_T : CUBLAS_OP_N, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                  blas_size(n), blas_size(m), blas_size(k), &one, b.data, blas_size(b.ld),
                  stride(b.stride), a.data, blas_size(a.ld), stride(a.stride), &zero, c,
                  blas_size(ldc), stride(stride_c), blas_size(heads)),
              "cublasSgemmStridedBatched");
}

void CudaNnOps::attention(const Attention& shape, const Tensor& qkv, const Tensor& probabilities,
                          const Tensor& y) {
  const std::size_t rows = shape.rows(), width = shape.width(), d = shape.head_width;
  const float* q = operand(qkv, 3 * rows * width);
  float* p = operand(probabilities, shape.pairs());
  float* out = operand(y, rows * width);
  for (const std::size_t length : shape.lengths) {
    const std::size_t square = length * length, ld = 3 * width;
    multiply_heads({.m = length, .n = length, .k = d, .transpose_b = true}, shape.heads, {q, ld, d},
                   {q + width, ld, d}, p, length, square);
    cuda::causal_softmax(stream_, shape.heads, length, shape.scale(), p);
    multiply_heads({.m = length, .n = d, .k = length}, shape.heads, {p, length, square},
                   {q + 2 * width, ld, d}, out, width, d);
    q += length * ld;
    p += shape.heads * square;
    out += length * width;
  }
}

void CudaNnOps::attention_grad(const Attention& shape, const Tensor& qkv,
                               const Tensor& probabilities, const Tensor& dy,
                               const Tensor& dprobabilities, const Tensor& dqkv) {
  const std::size_t rows = shape.rows(), width = shape.width(), d = shape.head_width;
  const float* q = operand(qkv, 3 * rows * width);
  const float* p = operand(probabilities, shape.pairs());
  const float* dout = operand(dy, rows * width);
  float* dp = operand(dprobabilities, shape.pairs());
  float* dq = operand(dqkv, 3 * rows * width);
  for (const std::size_t length : shape.lengths) {
    const std::size_t square = length * length, ld = 3 * width;
    const Gemm by_rows{.m = length, .n = d, .k = length};
    Gemm by_columns = by_rows;
    by_columns.transpose_a = true;
    multiply_heads(by_columns, shape.heads, {p, length, square}, {dout, width, d}, dq + 2 * width,
                   ld, d);
    multiply_heads({.m = length, .n = length, .k = d, .transpose_b = true}, shape.heads,
                   {dout, width, d}, {q + 2 * width, ld, d}, dp, length, square);
    cuda::causal_softmax_grad(stream_, shape.heads, length, shape.scale(), p, dp);
    multiply_heads(by_rows, shape.heads, {dp, length, square}, {q + width, ld, d}, dq, ld, d);
    multiply_heads(by_columns, shape.heads, {dp, length, square}, {q, ld, d}, dq + width, ld, d);
    q += length * ld;
    dq += length * ld;
    p += shape.heads * square;
    dp += shape.heads * square;
    dout += length * width;
  }
}

void CudaNnOps::gru(std::size_t rows, std::size_t cols, const Tensor& x, const Tensor& h,
                    const Tensor& previous, const Tensor& gates, const Tensor& state) {
  const std::size_t n = rows * cols;
  cuda::gru(stream_, rows, cols, operand(x, 3 * n), operand(h, 3 * n), operand(previous, n),
            operand(gates, 3 * n), operand(state, n));
}

void CudaNnOps::gru_grad(std::size_t rows, std::size_t cols, const Tensor& gates, const Tensor& h,
                         const Tensor& previous, const Tensor& dstate, const Tensor& dx,
                         const Tensor& dh, const Tensor& dprevious) {
  const std::size_t n = rows * cols;
  cuda::gru_grad(stream_, rows, cols, operand(gates, 3 * n), operand(h, 3 * n),
                 operand(previous, n), operand(dstate, n), operand(dx, 3 * n), operand(dh, 3 * n),
                 operand(dprevious, n));
}

}  // namespace trigram
