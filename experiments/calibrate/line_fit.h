#pragma once

#include <span>
#include <vector>

namespace trigram {

/// A measured time of an operation on `size` bytes or operations.
struct Sample {
  double size, seconds;
};

/// time = overhead_s + size * seconds_per_unit.
struct LineFit {
  double overhead_s = 0, seconds_per_unit = 0;
  double seconds(double size) const { return overhead_s + size * seconds_per_unit; }
  /// Of what was measured: 0.1 where the fit is 10 % too long.
  double residual(const Sample& sample) const { return seconds(sample.size) / sample.seconds - 1; }
};

/// The line with the least sum of squared relative errors, so that short and long operations count
/// alike; neither part is negative. Throws std::runtime_error for fewer than two sizes, times that
/// are not positive, and times that do not grow with size.
LineFit fit_line(std::span<const Sample> samples);

/// A line for each of several kinds of operations, with one overhead in common, which is not longer
/// than any of the times. Throws as fit_line does for each of them.
std::vector<LineFit> fit_lines(std::span<const std::vector<Sample>> kinds);

}  // namespace trigram
