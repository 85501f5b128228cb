#pragma once

#include <cstddef>

#include "core/math/matrix_shape.h"

/// Products of a matrix with a few vectors, and an orthonormal basis of them, on plain arrays in a
/// fixed order of summation. A vector of n elements stands for the matrix of `shape`, row by row,
/// zeros behind it; `factors` are `rank` vectors, one behind the other.
namespace trigram::low_rank {

/// What is left of a vector after its projections, if not more than this part of it, is rounding
/// errors.
inline constexpr double kDependent = 1e-5;

/// p = M q:  q has vectors of shape.cols elements, p of shape.rows.
void multiply(const float* m, std::size_t n, MatrixShape shape, std::size_t rank, const float* q,
              float* p);
/// q = M^T p.
void multiply_transposed(const float* m, std::size_t n, MatrixShape shape, std::size_t rank,
                         const float* p, float* q);
/// m = p q^T, its first n elements.
void reconstruct(float* m, std::size_t n, MatrixShape shape, std::size_t rank, const float* p,
                 const float* q);
/// Makes `rank` vectors of `rows` elements orthonormal (modified Gram-Schmidt, each vector twice);
/// one that depends on those before it becomes zero. Sums in f64.
void orthonormalise(float* factors, std::size_t rows, std::size_t rank);

}  // namespace trigram::low_rank
