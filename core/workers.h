#pragma once

#include <algorithm>
#include <vector>

#include "core/context.h"

namespace trigram {

/// The ranks of a run that compute gradients: at least one, in ascending order. The other ranks
/// only serve: they have a workload and an optimizer, for the shapes of tensors, but never run
/// them.
struct Workers {
  std::vector<int> ranks;

  int count() const { return static_cast<int>(ranks.size()); }
  bool include(int rank) const { return std::binary_search(ranks.begin(), ranks.end(), rank); }
  /// The context with which a rank creates its workload and optimizer. These distribute data and
  /// scale learning rates by worker number, so its rank and size count only workers. A rank that
  /// only serves gets number 0.
  Context numbered(Context ctx) const {
    const auto self = std::lower_bound(ranks.begin(), ranks.end(), ctx.world_rank);
    const bool works = self != ranks.end() && *self == ctx.world_rank;
    ctx.world_rank = works ? static_cast<int>(self - ranks.begin()) : 0;
    ctx.world_size = count();
    return ctx;
  }
};

}  // namespace trigram
