#include "experiments/run/pace_trend.h"

#include <cmath>
#include <numeric>
#include <span>

namespace trigram {
namespace {

double block_mean(std::span<const double> values) {
  return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

/// The statistic of the Mann-Whitney test, as a number of standard deviations: 0 if the values of
/// `first` and `second` are mixed, and large if nearly all of one exceed those of the other.
double separation(std::span<const double> first, std::span<const double> second) {
  double ordered = 0;  // pairs in which the value of `second` is larger; ties count half
  for (const double a : first)
    for (const double b : second) ordered += b > a ? 1 : b == a ? 0.5 : 0;
  const auto n = static_cast<double>(first.size()), m = static_cast<double>(second.size());
  return std::fabs(ordered - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12);
}

}  // namespace

void PaceTrend::add(double step_s) {
  sum_ += step_s;
  if (++count_ < length_) return;
  blocks_.push_back(sum_ / static_cast<double>(length_));
  sum_ = 0;
  count_ = 0;
  if (blocks_.size() < kMostBlocks) return;
  for (std::size_t i = 0; i < kMostBlocks / 2; ++i)
    blocks_[i] = (blocks_[2 * i] + blocks_[2 * i + 1]) / 2;
  blocks_.resize(kMostBlocks / 2);
  length_ *= 2;
}

Json PaceTrend::to_json() const {
  if (blocks_.size() < kLeastBlocks) return nullptr;
  const std::span<const double> all(blocks_);
  const std::size_t half = all.size() / 2;
  const auto first = all.first(half), second = all.last(half);
  const double before_s = block_mean(first), after_s = block_mean(second);
  if (std::fabs(after_s - before_s) <= kLeastChange * before_s ||
      separation(first, second) < kLeastSeparation)
    return nullptr;
  return {{"first_half_step_s", before_s}, {"second_half_step_s", after_s}};
}

}  // namespace trigram
