#include "algorithms/collectives/fold.h"

#include <bit>

namespace trigram {

Fold::Fold(Context ctx) {
  const int P = ctx.size(), rank = ctx.rank();
  rest_ = P - static_cast<int>(std::bit_floor(static_cast<unsigned>(P)));
  if (rank < 2 * rest_) {
    folded_ = rank % 2 == 0;
    partner_ = rank ^ 1;
  }
  for (int r = 0; r < P; ++r)
    if (r >= 2 * rest_ || r % 2 == 1) active_.push_back(r);
}

}  // namespace trigram
