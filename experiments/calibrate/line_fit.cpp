#include "experiments/calibrate/line_fit.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace trigram {
namespace {

// The sums from which the line a + b * size with the least sum of (a u + b v - 1)^2 is computed,
// where u = 1 / seconds and v = size / seconds of a sample.
struct Sums {
  double uu = 0, uv = 0, vv = 0, u = 0, v = 0;
};

Sums sums_of(std::span<const Sample> samples) {
  Sums sums;
  for (const Sample& s : samples) {
    if (!(s.seconds > 0)) throw std::runtime_error("a measured time is not above zero");
    const double u = 1 / s.seconds, v = s.size / s.seconds;
    sums.uu += u * u;
    sums.uv += u * v;
    sums.vv += v * v;
    sums.u += u;
    sums.v += v;
  }
  return sums;
}

}  // namespace

LineFit fit_line(std::span<const Sample> samples) {
  const auto [least, most] =
      std::minmax_element(samples.begin(), samples.end(),
                          [](const Sample& a, const Sample& b) { return a.size < b.size; });
  if (samples.size() < 2 || least->size == most->size)
    throw std::runtime_error("a line fit needs the times of at least two sizes");
  const Sums s = sums_of(samples);
  const double determinant = s.uu * s.vv - s.uv * s.uv;
  LineFit fit{(s.u * s.vv - s.v * s.uv) / determinant, (s.v * s.uu - s.u * s.uv) / determinant};
  if (fit.overhead_s < 0) fit = {0, s.v / s.vv};
  if (!(fit.seconds_per_unit > 0))
    throw std::runtime_error("the measured times do not grow with the size");
  return fit;
}

// Given an overhead, the best b of a kind is (v - overhead * uv) / vv. With these b, the total sum
// of squares is a parabola in the overhead, which has its minimum at u / uu.
std::vector<LineFit> fit_lines(std::span<const std::vector<Sample>> kinds) {
  double u = 0, uu = 0, shortest_s = std::numeric_limits<double>::infinity();
  for (const std::vector<Sample>& samples : kinds) {
    fit_line(samples);  // throws if no line fits
    const Sums s = sums_of(samples);
    u += s.u - s.v * s.uv / s.vv;
    uu += s.uu - s.uv * s.uv / s.vv;
    for (const Sample& sample : samples) shortest_s = std::min(shortest_s, sample.seconds);
  }
  const double overhead_s = std::clamp(u / uu, 0.0, shortest_s);
  std::vector<LineFit> fits;
  for (const std::vector<Sample>& samples : kinds) {
    const Sums s = sums_of(samples);
    fits.push_back({overhead_s, (s.v - overhead_s * s.uv) / s.vv});
  }
  return fits;
}

}  // namespace trigram
