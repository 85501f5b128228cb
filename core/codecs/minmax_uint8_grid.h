#pragma once

#include <limits>

/// The scalar arithmetic of MinMaxUInt8 (minmax_uint8.h), for hosts and accelerators alike.
namespace trigram::minmax_uint8 {

constexpr bool is_finite(float x) { return x - x == 0; }

/// Half-even rounding without libm: from 2^23 on every f32 is an integer, below it the sum with
/// 2^23 has none but integer bits.
constexpr float round_half_even(float x) {
  constexpr float kIntegers = 0x1p23f;
  if (!(x < kIntegers && x > -kIntegers)) return x;
  return x < 0 ? (x - kIntegers) + kIntegers : (x + kIntegers) - kIntegers;
}

struct Range {
  float min = 0, max = 0;
  bool finite = true;  // no NaN, no infinity
};

/// What the wire says of a range: NaN where there is a NaN or an infinity, or no f32 difference.
constexpr Range wire_range(Range range) {
  if (range.finite && is_finite(range.max - range.min)) return range;
  range.min = range.max = std::numeric_limits<float>::quiet_NaN();
  return range;
}

struct Grid {
  float scale, upper, lower;
  /// All grid points are integers within f32's exact ones, and all codes lie in 0 .. 255 before
  /// they are clamped: plain integer arithmetic then gives what the formula gives.
  bool exact;

  /// Not so for NaN, or a constant too large for the grid: all codes are 0 and stand for the
  /// range's maximum.
  constexpr bool has_codes() const { return is_finite(upper); }
};

/// The grid of a range as the wire says it.
constexpr Grid grid_of(const Range& range) {
  constexpr float kExact = 0x1p21f;
  Grid grid{};
  grid.scale = 255.0f / (range.max - range.min + 1e-7f);
  grid.upper = round_half_even(range.max * grid.scale);
  grid.lower = grid.upper - 255.0f;
  // As rounding is monotonic, the codes of minimum and maximum bound all others.
  grid.exact = grid.upper <= kExact && grid.lower >= -kExact &&
               round_half_even(range.min * grid.scale) >= grid.lower;
  return grid;
}

}  // namespace trigram::minmax_uint8
