#pragma once

#include <cstddef>
#include <cstdint>

/// The loops of MinMaxUInt8, compiled for every vector instruction set of the architecture and
/// chosen at run time. All give the same bits: minimum and maximum do not depend on the order, the
/// rest is element by element.
namespace trigram::minmax_uint8 {

struct Range {
  float min = 0, max = 0;
  bool finite = true;  // no NaN, no infinity
};
/// The range of n > 0 values; zeros count as +0. `min` and `max` are meaningless unless `finite`.
Range find_range(const float* x, std::size_t n);

struct Grid {
  float scale, upper, lower;
  /// All grid points are integers within f32's exact ones, and all codes lie in 0 .. 255 before
  /// they are clamped: plain integer arithmetic then gives what the formula gives.
  bool exact;
};
/// The grid of a finite range.
Grid grid_of(const Range& range);
void quantize(const float* x, std::size_t n, const Grid& grid, std::uint8_t* codes);
void dequantize(const std::uint8_t* codes, std::size_t n, const Grid& grid, float* x);

}  // namespace trigram::minmax_uint8
