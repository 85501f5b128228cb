#pragma once

#include <cstddef>

/// The normalised Walsh-Hadamard transform H of short groups of elements. It is its own inverse and
/// keeps the Euclidean norm. It spreads an outlier over its group, so that the elements that share
/// a scale with it lose fewer bits (SDP4Bit, Jia et al., arXiv 2410.15526).
namespace trigram::hadamard {

/// The greatest number of elements of a group; the number is a power of two.
inline constexpr std::size_t kMost = 32;

/// The factor by which elements are multiplied first: 1 / sqrt(group).
float scale(std::size_t group);

/// Transforms all groups of `group` elements in place. Elements after the last whole group stay as
/// they are. For distances h = 1, 2, 4, ... below `group`, elements a and b at the distance h are
/// replaced by a + b and a - b.
void transform(float* x, std::size_t n, std::size_t group);

}  // namespace trigram::hadamard
