#pragma once

#include <algorithm>
#include <vector>

#include "core/context.h"

namespace trigram {

/// The ranks of a run that compute gradients, in ascending order, at least one. The others only
/// serve: they need a workload and an optimizer for the shapes, but never run them.
struct Workers {
  std::vector<int> ranks;

  int count() const { return static_cast<int>(ranks.size()); }
  bool include(int rank) const { return std::binary_search(ranks.begin(), ranks.end(), rank); }
  /// The context of a rank as its workload and optimizer see it, by whose ranks data are dealt and
  /// rates scaled: the workers alone are numbered. A rank that only serves looks like the first.
  Context numbered(Context ctx) const {
    const auto self = std::lower_bound(ranks.begin(), ranks.end(), ctx.world_rank);
    const bool works = self != ranks.end() && *self == ctx.world_rank;
    ctx.world_rank = works ? static_cast<int>(self - ranks.begin()) : 0;
    ctx.world_size = count();
    return ctx;
  }
};

}  // namespace trigram
