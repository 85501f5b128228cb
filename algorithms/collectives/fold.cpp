#include "algorithms/collectives/fold.h"

#include <bit>
#include <type_traits>

namespace trigram {

static_assert(std::is_trivially_copyable_v<Fold>, "no list of P ranks for each of P ranks");

Fold::Fold(Context ctx) {
  const int P = ctx.size(), rank = ctx.rank();
  size_ = static_cast<int>(std::bit_floor(static_cast<unsigned>(P)));
  rest_ = P - size_;
  number_ = rank - rest_;
  if (rank < 2 * rest_) {
    number_ = rank % 2 == 0 ? -1 : rank / 2;
    partner_ = rank ^ 1;
  }
}

}  // namespace trigram
