#include "algorithms/peers/active_passive.h"

#include "core/random/philox.h"

namespace trigram {
namespace {

std::vector<int> every_second(int first, int size) {
  std::vector<int> ranks;
  for (int rank = first; rank < size; rank += 2) ranks.push_back(rank);
  return ranks;
}

}  // namespace

std::vector<int> active_ranks(int size) { return every_second(0, size); }
std::vector<int> passive_ranks(int size) { return every_second(1, size); }

int passive_partner(std::uint64_t seed, int rank, int size, long step) {
  Philox draw(seed, rank, step, Purpose::peers);
  return 2 * static_cast<int>(draw.below(static_cast<std::uint32_t>(size / 2))) + 1;
}

}  // namespace trigram
