#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/execution/exchange.h"
#include "core/context.h"

namespace trigram {

/// An estimate of the magnitude that the k largest elements of a vector reach, for vectors that
/// change slowly. From time to time it is set to the exact value. In between it is corrected by the
/// number of elements found above it (Ok-Topk, Li and Hoefler, arXiv 2201.07598, with the limits
/// and factors of its code). A threshold of 0, from a vector with fewer than k nonzero elements,
/// stays 0 until it is set again.
class Threshold {
 public:
  struct Control {
    double most;  // the threshold rises if more than `most` times k elements are found
    double
        factor;  // factor of each rise; it falls by the same factor if fewer than 2/3 k are found
  };
  explicit Threshold(const Control& control) : control_(control) {}

  float magnitude() const { return magnitude_; }
  void set(float exact) { magnitude_ = exact; }
  void correct(std::size_t found, std::size_t k) {
    const double share = static_cast<double>(found) / static_cast<double>(k);
    const auto factor = static_cast<float>(control_.factor);
    if (share < 2.0 / 3) magnitude_ /= factor;
    else if (share > control_.most) magnitude_ *= factor;
  }

 private:
  Control control_;
  float magnitude_ = 0;
};

/// A partition of vectors of one length into P consecutive regions, the same on all ranks, each
/// owned by one rank. Regions are short where many selected elements lie.
///
/// The lengths of regions depend on values, but sizes of messages and simulated times must not. For
/// these, and for phantoms, the regions count as P nearly equal parts.
class BalancedRegions {
 public:
  /// For vectors like `x`, among the ranks of ctx.comm. The regions are equal parts at first.
  BalancedRegions(Context ctx, const Tensor& x);
  /// Moves the boundaries: each rank computes the boundaries that divide its `chosen` elements into
  /// P equal shares, and the new boundaries are the means of these over the ranks. `chosen` holds
  /// the indices of the elements that this rank has selected, in ascending order. All ranks must
  /// select the same number; for a phantom there are none. Collective: an allreduce of P-1 floats
  /// by recursive doubling.
  void balance(Context ctx, std::span<const std::uint32_t> chosen);

  std::size_t size() const { return cuts_.size() - 1; }
  std::size_t length(std::size_t region) const { return cuts_[region + 1] - cuts_[region]; }
  /// The part of `x` in a region.
  Tensor of(const Tensor& x, std::size_t region) const;

 private:
  std::vector<std::size_t> cuts_;  // the beginning of each region, and the end of the last
};

/// The size and the update intervals of a regional average of k elements of a vector.
struct Regional {
  double density = 0.01;  // k over the number of elements
  double slack = 1.5;     // room for a region's elements in a message, as a multiple of k/P
  std::int64_t threshold_every = 32;  // exact thresholds once in so many steps
  std::int64_t rebalance_every = 64;  // new region boundaries once in so many steps
};

/// Computes the mean over the ranks for about k elements, those with the largest means, and 0 for
/// all other elements; the same on all ranks (Ok-Topk, Li and Hoefler, arXiv 2201.07598). Every
/// rank averages one region of the elements that the ranks select, and all ranks keep the large
/// elements of all regions. With v = x + e_i:
///
///   s_i = the elements of v above the rank's own threshold; of each region the c largest
///
///   m_j = 1/P sum_i (s_i in region j)
///
///   x = of m_1, ..., m_P the elements above a common threshold; of each region the c largest
///
///   e_i = v, but 0 where both s_i and x have an element
///
/// where c = ceil(slack k/P). Every `threshold_every` steps the thresholds are exact: k elements of
/// v reach the rank's own threshold, and k of the elements of m_1, ..., m_P that are sent reach the
/// common one. In the other steps the thresholds are corrected (see Threshold). The region
/// boundaries are recomputed every `rebalance_every` steps (BalancedRegions).
Exchange regional_average(const Regional& options);

}  // namespace trigram
