#include "core/nn/host_nn_ops.h"

#include <Eigen/Core>

namespace trigram {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Eigen cuts products into blocks that fit the caches it detects, and the blocks determine the
/// order of the sums. Fixed cache sizes give the same bits on every machine.
void fix_cache_sizes() {
  static const bool done = [] {
    Eigen::setCpuCacheSizes(32 << 10, 1 << 20, 8 << 20);
    return true;
  }();
  (void)done;
}

auto matrix(const float* data, std::size_t rows, std::size_t cols) {
  return Eigen::Map<const RowMajor>(data, static_cast<Eigen::Index>(rows),
                                    static_cast<Eigen::Index>(cols));
}

auto matrix(const float* data, std::size_t rows, std::size_t cols, std::size_t ld) {
  return Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(
      data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols),
      Eigen::OuterStride<>(static_cast<Eigen::Index>(ld)));
}

/// c += op(a) * op(b).
template <class C, class A, class B>
void add_product(C& c, const A& a, bool transpose_a, const B& b, bool transpose_b) {
  if (transpose_a && transpose_b) c.noalias() += a.transpose() * b.transpose();
  else if (transpose_a) c.noalias() += a.transpose() * b;
  else if (transpose_b) c.noalias() += a * b.transpose();
  else c.noalias() += a * b;
}

}  // namespace

void gemm(const Gemm& shape, const float* a, const float* b, float beta, float* c) {
  fix_cache_sizes();
  const auto [m, n, k, ta, tb] = shape;
  Eigen::Map<RowMajor> product(c, static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(n));
  if (beta == 0) product.setZero();
  else if (beta != 1) product *= beta;
  if (k == 0) return;
  add_product(product, ta ? matrix(a, k, m) : matrix(a, m, k), ta,
              tb ? matrix(b, n, k) : matrix(b, k, n), tb);
}

void gemm(const Gemm& shape, const float* a, std::size_t lda, const float* b, std::size_t ldb,
          float beta, float* c, std::size_t ldc) {
  fix_cache_sizes();
  const auto [m, n, k, ta, tb] = shape;
  Eigen::Map<RowMajor, 0, Eigen::OuterStride<>> product(
      c, static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(n),
      Eigen::OuterStride<>(static_cast<Eigen::Index>(ldc)));
  if (beta == 0) product.setZero();
  else if (beta != 1) product *= beta;
  if (k == 0) return;
  add_product(product, ta ? matrix(a, k, m, lda) : matrix(a, m, k, lda), ta,
              tb ? matrix(b, n, k, ldb) : matrix(b, k, n, ldb), tb);
}

}  // namespace trigram
