#include "algorithms/peers/butterfly_group.h"

#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "core/check.h"
#include "core/config/option_type.h"

namespace trigram {

std::vector<int> butterfly_group(int rank, int size, int group_size, long step) {
  const auto P = static_cast<unsigned>(size), S = static_cast<unsigned>(group_size);
  TRIGRAM_CHECK(std::has_single_bit(P) && std::has_single_bit(S) && S <= P,
                "a butterfly over {} ranks has no groups of {}", size, group_size);
  const int phases = std::countr_zero(P), group_phases = std::countr_zero(S);
  std::vector<int> masks;
  for (int k = 0; k < group_phases; ++k) masks.push_back(1 << ((step * group_phases + k) % phases));
  std::vector<int> members = {rank & ~std::accumulate(masks.begin(), masks.end(), 0)};
  for (const int mask : masks) {
    const std::vector<int> lower = members;
    for (const int member : lower) members.push_back(member | mask);
  }
  return members;
}

int butterfly_group_size(int wanted, int size) {
  return wanted > 0 ? wanted : 1 << (std::bit_width(static_cast<unsigned>(size)) / 2);
}

void check_butterfly_groups(std::int64_t group_size, int ranks, const std::string& pointer) {
  const auto power_of_two = [](std::int64_t n) {
    return std::has_single_bit(static_cast<std::uint64_t>(n));
  };
  if (!power_of_two(ranks))
    throw ConfigError(
        pointer, fmt::format("groups need a power of two as the number of workers, not {}", ranks));
  const std::int64_t S = group_size, least = ranks > 1 ? 2 : 1;
  if (S != 0 && (S < least || S > ranks || !power_of_two(S)))
    throw ConfigError(
        child(pointer, "group_size"),
        fmt::format("expected 0 or a power of two from {} to {} workers, not {}", least, ranks, S));
}

}  // namespace trigram
