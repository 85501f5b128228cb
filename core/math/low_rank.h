#pragma once

#include <cstddef>
#include <cstdint>

namespace trigram {

struct MatrixShape {
  std::size_t rows, cols;
};

/// The most nearly square matrix that holds a vector of `numel` elements row by row: cols =
/// ceil(sqrt(numel)), rows = ceil(numel / cols). Zeros fill the rest of the last row. {0, 0} if
/// numel is 0.
constexpr MatrixShape nearly_square(std::size_t numel) {
  if (numel == 0) return {0, 0};
  // Newton's iteration for the integer square root decreases until it converges.
  std::size_t root = numel, next = (root + 1) / 2;
  while (next < root) {
    root = next;
    next = (root + numel / root) / 2;
  }
  const std::size_t cols = root * root == numel ? root : root + 1;
  return {(numel + cols - 1) / cols, cols};
}

}  // namespace trigram

/// Products of a matrix and a few vectors, and orthonormalisation of the vectors, on plain arrays
/// with a fixed order of summation. A vector of n elements represents a matrix of the given shape,
/// row by row, padded with zeros; `factors` are `rank` vectors, stored one after the other.
namespace trigram::low_rank {

/// If at most this fraction of a vector is left after subtracting its projections, the rest is
/// rounding error.
inline constexpr double kDependent = 1e-5;

/// p = M q; q holds vectors of shape.cols elements, p of shape.rows.
void multiply(const float* m, std::size_t n, MatrixShape shape, std::size_t rank, const float* q,
              float* p);
/// q = M^T p.
void multiply_transposed(const float* m, std::size_t n, MatrixShape shape, std::size_t rank,
                         const float* p, float* q);
/// m = the first n elements of p q^T.
void reconstruct(float* m, std::size_t n, MatrixShape shape, std::size_t rank, const float* p,
                 const float* q);

/// Element `row` of the vector that replaces vector `j`: from [-1, 1), drawn by the last steps of
/// MurmurHash3, so that it is the same on all ranks and devices.
constexpr float replacement(std::size_t j, std::size_t row) {
  auto hash = static_cast<std::uint32_t>(row) ^ (static_cast<std::uint32_t>(j + 1) * 0x9E3779B9u);
  hash = (hash ^ (hash >> 16)) * 0x85EBCA6Bu;
  hash = (hash ^ (hash >> 13)) * 0xC2B2AE35u;
  hash ^= hash >> 16;
  return static_cast<float>(hash >> 8) * 0x1p-23f - 1;  // exact
}

/// Makes `rank` vectors of `rows` elements orthonormal by modified Gram-Schmidt with two passes per
/// vector. A vector that depends linearly on earlier vectors becomes zero or, if `replaces`, the
/// part of `replacement` that is orthogonal to them; it is zero, too, if they span the whole space.
/// Values that are not finite stay so. Sums are in f64.
void orthonormalise(float* factors, std::size_t rows, std::size_t rank, bool replaces = false);

}  // namespace trigram::low_rank
