#pragma once

#include <cstddef>

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
