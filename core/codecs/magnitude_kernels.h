#pragma once

#include <cstddef>
#include <cstdint>

/// Loops over magnitudes, compiled for every vector instruction set of the architecture and chosen
/// at run time. A magnitude is the bit pattern of |x|. Its order is that of the values, with
/// infinity above all of them and NaNs above infinity.
namespace trigram::magnitudes {

constexpr std::uint32_t kInfinity = 0x7F800000;

/// The largest magnitude; 0 if n is 0.
std::uint32_t largest(const float* x, std::size_t n);
/// Writes the indices of all elements whose magnitude is at least `bound`, in ascending order, and
/// returns their number. `indices` must have room for n.
std::size_t at_least(std::uint32_t bound, const float* x, std::size_t n, std::uint32_t* indices);

}  // namespace trigram::magnitudes
