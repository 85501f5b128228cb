#pragma once

#include <functional>

#include "core/context.h"

namespace trigram {

/// The stretch of a vector that the ranks [first, last) will own.
using Stretch = std::function<Tensor(int first, int last)>;

/// Recursive-halving reduce-scatter among 2^k ranks: rank r ends with the sum of stretch(r, r+1).
/// In each of k rounds the group of ranks halves, and with it what is exchanged. Not scaled.
void halve(Context ctx, const Stretch& stretch, Reduce op);

/// Recursive-doubling allgather among 2^k ranks: the reverse of `halve`.
void double_up(Context ctx, const Stretch& stretch);

}  // namespace trigram
