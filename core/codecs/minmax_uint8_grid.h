#pragma once

#include <limits>

/// The scalar arithmetic of MinMaxUInt8 (minmax_uint8.h), for hosts and accelerators.
namespace trigram::minmax_uint8 {

constexpr bool is_finite(float x) { return x - x == 0; }

/// Rounds half to even without libm. Every f32 of at least 2^23 is an integer; adding 2^23 to a
/// smaller one rounds it to an integer.
constexpr float round_half_even(float x) {
  constexpr float kIntegers = 0x1p23f;
  if (!(x < kIntegers && x > -kIntegers)) return x;
  return x < 0 ? (x - kIntegers) + kIntegers : (x + kIntegers) - kIntegers;
}

struct Range {
  float min = 0, max = 0;
  bool finite = true;  // no NaN and no infinity
};

/// The range as written to the wire: NaN if there is a NaN or an infinity, or if max - min
/// overflows.
constexpr Range wire_range(Range range) {
  if (range.finite && is_finite(range.max - range.min)) return range;
  range.min = range.max = std::numeric_limits<float>::quiet_NaN();
  return range;
}

struct Grid {
  float scale, upper, lower;
  /// True if all grid points are integers that f32 represents exactly and all codes are in 0 .. 255
  /// before the clamp. Plain integer arithmetic then gives the same result as the formula.
  bool exact;

  /// False if the range is NaN, or if the chunk is a constant too large for the grid. All codes are
  /// then 0 and decode to the range's maximum.
  constexpr bool has_codes() const { return is_finite(upper); }
};

/// The grid of a range that was read from the wire.
constexpr Grid grid_of(const Range& range) {
  constexpr float kExact = 0x1p21f;
  Grid grid{};
  grid.scale = 255.0f / (range.max - range.min + 1e-7f);
  grid.upper = round_half_even(range.max * grid.scale);
  grid.lower = grid.upper - 255.0f;
  // Rounding is monotonic, so the codes of the minimum and the maximum bound all others.
  grid.exact = grid.upper <= kExact && grid.lower >= -kExact &&
               round_half_even(range.min * grid.scale) >= grid.lower;
  return grid;
}

}  // namespace trigram::minmax_uint8
