#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/execution/exchange.h"
#include "core/context.h"
#include "core/training_state.h"

namespace trigram {

/// An estimate of the magnitude that the k largest elements of a vector reach, for vectors that
/// change slowly. From time to time it is set to the exact value. In between, each vector corrects
/// it: it rises if too many elements were found above it, and falls if too few were found (Ok-Topk,
/// Li and Hoefler, arXiv 2201.07598, with the limits and factors of its code). A threshold of 0,
/// from a vector with fewer than k nonzero elements, stays 0 until it is set again.
class Threshold {
 public:
  struct Control {
    /// The threshold rises if more than this multiple of k elements are found above it.
    double upper_limit;
    /// The factor of each rise. If fewer than 2/3 k elements are found, it falls by this factor.
    double factor;
  };
  /// `magnitude` holds the estimate, at first 0.
  Threshold(const Control& control, float& magnitude) : control_(control), magnitude_(magnitude) {}

  float magnitude() const { return magnitude_; }
  void set(float exact) { magnitude_ = exact; }
  void correct(std::size_t found, std::size_t k) {
    const double share = static_cast<double>(found) / static_cast<double>(k);
    const auto factor = static_cast<float>(control_.factor);
    if (share < 2.0 / 3) magnitude_ /= factor;
    else if (share > control_.upper_limit) magnitude_ *= factor;
  }

 private:
  Control control_;
  float& magnitude_;
};

/// A partition of vectors of one length into P consecutive regions, the same on all ranks, each
/// owned by one rank. Regions are short where many selected elements lie.
///
/// The lengths of regions depend on values, but the sizes of messages and simulated times must not.
/// Prices, and phantoms, therefore use P nearly equal parts.
class BalancedRegions {
 public:
  /// For vectors like `x`, among the ranks of ctx.comm. The regions are equal parts at first;
  /// `state` keeps them.
  BalancedRegions(Context ctx, const Tensor& x, const TrainingState& state);
  /// Moves the boundaries. `selected` holds the indices, in ascending order, of the elements that
  /// this rank has selected; the list is empty for a phantom. Each rank computes the boundaries
  /// that divide its list into P equal shares. The new boundaries are the means of these over the
  /// ranks. Collective: an allreduce of P-1 floats by recursive doubling.
  void balance(Context ctx, std::span<const std::uint32_t> selected);

  std::size_t size() const { return bounds_.size() - 1; }
  std::size_t length(std::size_t region) const { return bounds_[region + 1] - bounds_[region]; }
  /// The part of `x` in a region.
  Tensor slice(const Tensor& x, std::size_t region) const;

 private:
  std::span<std::size_t> bounds_;  // the beginning of each region, and the end of the last
};

/// The size and the update intervals of a regional average of k elements of a vector.
struct Regional {
  double density = 0.01;              // k divided by the number of elements
  double slack = 1.5;                 // capacity of a message for one region, in units of k/P
  std::int64_t threshold_every = 32;  // steps between exact thresholds
  std::int64_t rebalance_every = 64;  // steps between new region boundaries
};

/// Computes the mean over the ranks for about k elements, those with the largest means, and 0 for
/// all other elements; the same on all ranks (Ok-Topk, Li and Hoefler, arXiv 2201.07598). Every
/// rank averages one region of the elements that the ranks select, and all ranks keep the large
/// elements of all regions. With v = x + e_i:
///
///   s_i = in each region, the c largest elements of v above the rank's own threshold
///
///   m_j = 1/P sum_i (s_i in region j)
///
///   x   = in each region j, the c largest elements of m_j above a common threshold
///
///   e_i = v, but 0 where both s_i and x have an element
///
/// where c = ceil(slack k/P). Every `threshold_every` steps the thresholds are exact: k elements of
/// v reach the rank's own threshold, and k of the elements that the owners of all regions send
/// reach the common threshold. In the other steps the thresholds are corrected (see Threshold). The
/// region boundaries are recomputed every `rebalance_every` steps (BalancedRegions).
/// `state` keeps e, the thresholds and the boundaries.
Exchange regional_average(const Regional& options, const TrainingState& state = {});

}  // namespace trigram
