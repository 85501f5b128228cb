#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/context.h"

namespace trigram {

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

}  // namespace trigram
