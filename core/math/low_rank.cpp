#include "core/math/low_rank.h"

#include <algorithm>
#include <cmath>

namespace trigram::low_rank {
namespace {

// The dot product as partial sums, which the compiler can hold in vector registers, combined as a
// tree.
template <class Sum>
Sum dot(const float* x, const float* y, std::size_t n) {
  constexpr std::size_t kLanes = 16;
  Sum sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += static_cast<Sum>(x[i + lane]) * y[i + lane];
    }
  }
  for (std::size_t lane = 0; i + lane < n; ++lane) {
    sums[lane] += static_cast<Sum>(x[i + lane]) * y[i + lane];
  }
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return sums[0];
}

// Calls visit(row, elements, count) for every row; the last row may be shorter.
template <class Float, class Visit>
void for_each_row(Float* m, std::size_t n, MatrixShape shape, const Visit& visit) {
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::size_t begin = row * shape.cols;
    visit(row, m + begin, std::min(shape.cols, n - begin));
  }
}

void add_multiple(float a, const float* x, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

/// Makes vector `j` orthogonal to the vectors before it, and gives it the norm 1. If it depends
/// linearly on them, it becomes zero, and the result is false.
bool make_unit_orthogonal(float* factors, std::size_t rows, std::size_t j) {
  float* const vector = factors + j * rows;
  const double before = std::sqrt(dot<double>(vector, vector, rows));
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < j; ++i) {
      const float* const basis = factors + i * rows;
      const double along = dot<double>(vector, basis, rows);
      for (std::size_t k = 0; k < rows; ++k) {
        vector[k] = static_cast<float>(vector[k] - along * basis[k]);
      }
    }
  }
  const double norm = std::sqrt(dot<double>(vector, vector, rows));
  // Values that are not finite stay so.
  const bool independent = norm > kDependent * before || !std::isfinite(before);
  const double factor = independent ? 1 / norm : 0;
  for (std::size_t k = 0; k < rows; ++k) vector[k] = static_cast<float>(vector[k] * factor);
  return independent;
}

}  // namespace

void multiply(const float* m, std::size_t n, MatrixShape shape, std::size_t rank, const float* q,
              float* p) {
  for_each_row(m, n, shape, [&](std::size_t row, const float* elements, std::size_t count) {
    for (std::size_t j = 0; j < rank; ++j) {
      p[j * shape.rows + row] = dot<float>(elements, q + j * shape.cols, count);
    }
  });
}

void multiply_transposed(const float* m, std::size_t n, MatrixShape shape, std::size_t rank,
                         const float* p, float* q) {
  std::fill_n(q, rank * shape.cols, 0.0f);
  for_each_row(m, n, shape, [&](std::size_t row, const float* elements, std::size_t count) {
    for (std::size_t j = 0; j < rank; ++j) {
      add_multiple(p[j * shape.rows + row], elements, count, q + j * shape.cols);
    }
  });
}

void reconstruct(float* m, std::size_t n, MatrixShape shape, std::size_t rank, const float* p,
                 const float* q) {
  std::fill_n(m, n, 0.0f);
  for_each_row(m, n, shape, [&](std::size_t row, float* elements, std::size_t count) {
    for (std::size_t j = 0; j < rank; ++j) {
      add_multiple(p[j * shape.rows + row], q + j * shape.cols, count, elements);
    }
  });
}

void orthonormalise(float* factors, std::size_t rows, std::size_t rank, bool replaces) {
  for (std::size_t j = 0; j < rank; ++j) {
    float* const vector = factors + j * rows;
    if (make_unit_orthogonal(factors, rows, j) || !replaces) continue;
    for (std::size_t k = 0; k < rows; ++k) vector[k] = replacement(j, k);
    make_unit_orthogonal(factors, rows, j);
  }
}

}  // namespace trigram::low_rank
