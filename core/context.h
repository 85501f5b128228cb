#pragma once

#include <algorithm>
#include <vector>

#include "core/communicator.h"
#include "core/control.h"
#include "core/device.h"
#include "core/layout.h"
#include "core/stream.h"

namespace trigram {

/// Everything an algorithm sees of its world, from the point of view of one stream of one rank.
/// Cheap to copy, because it holds references and owns nothing.
struct Context {
  Stream* stream = nullptr;
  Communicator* comm = nullptr;
  Control* control = nullptr;
  Device* device = nullptr;
  const Layout* layout = nullptr;
  int world_rank = 0;  // keys random numbers and data; differs from rank() if `comm` is a subset
  int world_size = 0;

  /// The same stream within a subset of the ranks.
  Context with(Communicator& subset) const {
    Context other = *this;
    other.comm = &subset;
    return other;
  }
  int rank() const { return comm->rank(); }
  int size() const { return comm->size(); }
};

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
  Context worker_context(Context ctx) const {
    const auto self = std::lower_bound(ranks.begin(), ranks.end(), ctx.world_rank);
    const bool works = self != ranks.end() && *self == ctx.world_rank;
    ctx.world_rank = works ? static_cast<int>(self - ranks.begin()) : 0;
    ctx.world_size = count();
    return ctx;
  }
};

}  // namespace trigram
