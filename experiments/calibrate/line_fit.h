#pragma once

#include <span>
#include <vector>

namespace trigram {

/// The measured time of an operation on `size` bytes, or of `size` arithmetic operations.
struct Sample {
  double size, seconds;
};

/// A line: time = overhead_s + size * seconds_per_unit.
struct LineFit {
  double overhead_s = 0, seconds_per_unit = 0;
  double seconds(double size) const { return overhead_s + size * seconds_per_unit; }
  /// The relative error of the fitted time: 0.1 if it is 10 % too long.
  double residual(const Sample& sample) const { return seconds(sample.size) / sample.seconds - 1; }
};

/// The line with the least sum of squared relative errors, which gives short and long operations
/// equal weight. Neither parameter is negative. Throws std::runtime_error if there are fewer than
/// two sizes, if a time is not positive, or if times do not grow with size.
LineFit fit_line(std::span<const Sample> samples);

/// Fits one line to each of several kinds of operations. All lines share one overhead, which is no
/// longer than any measured time. Throws like fit_line, for each kind.
std::vector<LineFit> fit_lines(std::span<const std::vector<Sample>> kinds);

}  // namespace trigram
