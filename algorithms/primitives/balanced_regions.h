#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/context.h"

namespace trigram {

/// A cut of vectors of one length into P regions, one after another, which all ranks have in common
/// and each of which one rank owns. Where elements lie that matter, regions are short.
///
/// How long regions are depends on values, but nothing else may: as phantoms, and on wires and
/// clocks, they are P nearly equal parts.
class BalancedRegions {
 public:
  /// Of vectors like `x`, among the ranks of ctx.comm: equal parts, at first.
  BalancedRegions(Context ctx, const Tensor& x);
  /// Cuts anew at the mean over the ranks of where each would cut to have P equal shares of what it
  /// has chosen: as many elements on all ranks, by their indices, ascending; none of a phantom.
  /// Collective: an allreduce of P-1 floats by recursive doubling.
  void balance(Context ctx, std::span<const std::uint32_t> chosen);

  std::size_t size() const { return cuts_.size() - 1; }
  std::size_t length(std::size_t region) const { return cuts_[region + 1] - cuts_[region]; }
  /// A region of a vector.
  Tensor of(const Tensor& x, std::size_t region) const;

 private:
  std::vector<std::size_t> cuts_;  // where region i begins, and where the last one ends
};

}  // namespace trigram
