#pragma once

#include <functional>

#include "algorithms/collectives/fold.h"
#include "core/context.h"

namespace trigram {

/// Returns the range of a vector that the active ranks [first, last) of a Fold own at the end.
using PartRange = std::function<Tensor(int first, int last)>;

/// Recursive-halving reduce-scatter among the 2^k active ranks: rank r ends with the sum of
/// range(r, r+1). Each of the k rounds halves the group of ranks and the length of the exchanged
/// range. Does not scale the result.
void halve(Context ctx, const Fold& fold, const PartRange& range, Reduce op);

/// Recursive-doubling allgather among the 2^k active ranks: the reverse of `halve`.
void double_up(Context ctx, const Fold& fold, const PartRange& range);

}  // namespace trigram
