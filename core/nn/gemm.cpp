#include "core/nn/gemm.h"

#include <algorithm>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/nn/gemm.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;

// The classic scheme of Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication",
// doi:10.1145/1356052.1356053), without its outermost loops: b is packed into panels of
// kCols columns, and kRows x kCols tiles of c stay in registers while k runs. Cutting k into blocks
// does not change any sum: c holds the partial sum between two blocks, exactly.
constexpr std::size_t kRows = 4;
constexpr std::size_t kCols = 2 * hn::MaxLanes(F32());
constexpr std::size_t kDepth = 256;  // of a panel; one fits the first-level cache

struct Strided {
  const float* data;
  std::size_t row, column;  // strides
  const float* at(std::size_t r, std::size_t c) const { return data + r * row + c * column; }
};

// panel[p][j] = b(p, j), with zeros in the columns that a narrow panel does not have.
void PackPanel(const Strided& b, std::size_t depth, std::size_t cols, float* panel) {
  if (b.column == 1) {
    for (std::size_t p = 0; p < depth; ++p, panel += kCols) {
      std::copy_n(b.at(p, 0), cols, panel);
      std::fill_n(panel + cols, kCols - cols, 0.f);
    }
    return;
  }
  if (cols < kCols) std::fill_n(panel, depth * kCols, 0.f);
  for (std::size_t j = 0; j < cols; ++j) {
    const float* column = b.at(0, j);
    for (std::size_t p = 0; p < depth; ++p) panel[p * kCols + j] = column[p * b.row];
  }
}

// c[rows][kCols] += a[rows][depth] * panel[depth][kCols].
template <std::size_t rows>
void AddTile(const Strided& a, std::size_t depth, const float* panel, float* c, std::size_t ldc) {
  const F32 d;
  constexpr std::size_t kHalf = kCols / 2;
  hn::Vec<F32> left[rows], right[rows];
  for (std::size_t r = 0; r < rows; ++r) {
    left[r] = hn::LoadU(d, c + r * ldc);
    right[r] = hn::LoadU(d, c + r * ldc + kHalf);
  }
  for (std::size_t p = 0; p < depth; ++p, panel += kCols) {
    const auto b0 = hn::LoadU(d, panel), b1 = hn::LoadU(d, panel + kHalf);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto factor = hn::Set(d, *a.at(r, p));
      left[r] = hn::Add(left[r], hn::Mul(factor, b0));  // two roundings: no fused multiply-add
      right[r] = hn::Add(right[r], hn::Mul(factor, b1));
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    hn::StoreU(left[r], d, c + r * ldc);
    hn::StoreU(right[r], d, c + r * ldc + kHalf);
  }
}

void AddRows(std::size_t rows, const Strided& a, std::size_t depth, const float* panel, float* c,
             std::size_t ldc) {
  switch (rows) {
    case 1: return AddTile<1>(a, depth, panel, c, ldc);
    case 2: return AddTile<2>(a, depth, panel, c, ldc);
    case 3: return AddTile<3>(a, depth, panel, c, ldc);
    default: return AddTile<kRows>(a, depth, panel, c, ldc);
  }
}

// c[m][cols] += a[m][depth] * panel; a narrow panel goes through a tile of full width.
void AddPanel(std::size_t m, std::size_t cols, const Strided& a, std::size_t depth,
              const float* panel, float* c, std::size_t ldc) {
  HWY_ALIGN float tile[kRows * kCols] = {};
  for (std::size_t i = 0; i < m; i += kRows) {
    const std::size_t rows = std::min(kRows, m - i);
    const Strided strip{a.at(i, 0), a.row, a.column};
    float* out = c + i * ldc;
    if (cols == kCols) {
      AddRows(rows, strip, depth, panel, out, ldc);
      continue;
    }
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(out + r * ldc, cols, tile + r * kCols);
    AddRows(rows, strip, depth, panel, tile, kCols);
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(tile + r * kCols, cols, out + r * ldc);
  }
}

// c += op(a) * op(b).
void AddProduct(const Gemm& shape, const float* a_data, const float* b_data, float* c) {
  const auto [m, n, k, ta, tb] = shape;
  const Strided a{a_data, ta ? 1 : k, ta ? m : 1}, b{b_data, tb ? 1 : n, tb ? k : 1};
  std::vector<float> panel(std::min(kDepth, k) * kCols);
  for (std::size_t k0 = 0; k0 < k; k0 += kDepth) {
    const std::size_t depth = std::min(kDepth, k - k0);
    for (std::size_t j = 0; j < n; j += kCols) {
      const std::size_t cols = std::min(kCols, n - j);
      PackPanel({b.at(k0, j), b.row, b.column}, depth, cols, panel.data());
      AddPanel(m, cols, {a.at(0, k0), a.row, a.column}, depth, panel.data(), c + j, n);
    }
  }
}

}  // namespace trigram::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram {

HWY_EXPORT(AddProduct);

void gemm(const Gemm& shape, const float* a, const float* b, float beta, float* c) {
  const std::size_t size = shape.m * shape.n;
  if (beta == 0) {
    std::fill_n(c, size, 0.f);
  } else if (beta != 1) {
    for (std::size_t i = 0; i < size; ++i) c[i] *= beta;
  }
  if (size > 0 && shape.k > 0) HWY_DYNAMIC_DISPATCH(AddProduct)(shape, a, b, c);
}

}  // namespace trigram
#endif
