#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "core/context.h"

namespace trigram {

/// Reduces P ranks to the largest power of two, for algorithms that halve or double.
///
/// With P = 2^k + rest, ranks 0 .. 2*rest-1 form pairs. The even rank of a pair is *folded* onto
/// the odd one, which represents both. The active ranks are renumbered in order, from 0 to 2^k - 1.
/// A Fold has the same size in memory for every P, because each of thousands of simulated ranks has
/// one.
class Fold {
 public:
  explicit Fold(Context ctx);

  bool folded() const { return number_ < 0; }
  /// The other rank of the pair, or -1 for a rank in no pair.
  int partner() const { return partner_; }
  /// The number of active ranks.
  int size() const { return size_; }
  /// The calling rank's number among the active ones, or -1 for a folded rank.
  int number() const { return number_; }
  /// The active rank with number `i`, as a rank of the context.
  int active(int i) const { return i < rest_ ? 2 * i + 1 : i + rest_; }
  /// The first rank (of all P) that active rank `i` represents; P for i = `2^k`.
  std::size_t first_rank(int i) const { return static_cast<std::size_t>(i + std::min(i, rest_)); }

 private:
  int size_, rest_, number_;
  int partner_ = -1;
};

/// Returns the range of a vector that the active ranks [first, last) of a Fold own at the end.
using PartRange = std::function<Tensor(int first, int last)>;

/// Recursive-halving reduce-scatter among the 2^k active ranks: rank r ends with the sum of
/// range(r, r+1). Each of the k rounds halves the group of ranks and the length of the exchanged
/// range. Does not scale the result.
void halve(Context ctx, const Fold& fold, const PartRange& range, Reduce op);

/// Recursive-doubling allgather among the 2^k active ranks: the reverse of `halve`.
void double_up(Context ctx, const Fold& fold, const PartRange& range);

}  // namespace trigram
