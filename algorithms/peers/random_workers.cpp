#include "algorithms/peers/random_workers.h"

#include <algorithm>

#include "core/random/philox.h"

namespace trigram {

std::vector<int> random_workers(std::uint64_t seed, long round, int count, int size) {
  // Rank 2 of the draws for peers; random pairs use the draws of ranks 0 and 1.
  const auto order =
      Philox(seed, 2, round, Purpose::peers).permutation(static_cast<std::uint32_t>(size));
  std::vector<int> drawn(order.begin(), order.begin() + count);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace trigram
