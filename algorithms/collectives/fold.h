#pragma once

#include <algorithm>
#include <cstddef>

#include "core/context.h"

namespace trigram {

/// Brings P ranks down to the largest power of two, for algorithms that halve or double.
///
/// With P = 2^k + rest, ranks 0 .. 2*rest-1 form pairs: the even one is *folded* onto the odd one,
/// which stands for both. The active ranks are numbered anew, in order, from 0 to 2^k - 1. A fold
/// takes the same memory at any P: thousands of simulated ranks have one each.
class Fold {
 public:
  explicit Fold(Context ctx);

  bool folded() const { return number_ < 0; }
  /// The other rank of the pair, or -1 for a rank that stands for itself alone.
  int partner() const { return partner_; }
  /// How many ranks are active.
  int size() const { return size_; }
  /// The calling rank's number among the active ones, or -1 for a folded rank.
  int number() const { return number_; }
  /// The active rank with number `i`, as a rank of the context.
  int active(int i) const { return i < rest_ ? 2 * i + 1 : i + rest_; }
  /// The first rank (of all P) for which active rank `i` stands; active `2^k` gives P.
  std::size_t first_rank(int i) const { return static_cast<std::size_t>(i + std::min(i, rest_)); }

 private:
  int size_, rest_, number_;
  int partner_ = -1;
};

}  // namespace trigram
