#pragma once

#include <algorithm>
#include <vector>

#include "core/context.h"

namespace trigram {

/// Brings P ranks down to the largest power of two, for algorithms that halve or double.
///
/// With P = 2^k + rest, ranks 0 .. 2*rest-1 form pairs: the even one is *folded* onto the odd one,
/// which stands for both. The active ranks are numbered anew, in order, from 0 to 2^k - 1.
class Fold {
 public:
  explicit Fold(Context ctx);

  bool folded() const { return folded_; }
  /// The other rank of the pair, or -1 for a rank that stands for itself alone.
  int partner() const { return partner_; }
  /// The active ranks.
  const std::vector<int>& active() const { return active_; }
  /// The first rank (of all P) for which active rank `i` stands; active `2^k` gives P.
  std::size_t first_rank(int i) const { return static_cast<std::size_t>(i + std::min(i, rest_)); }

 private:
  int rest_;
  bool folded_ = false;
  int partner_ = -1;
  std::vector<int> active_;
};

}  // namespace trigram
