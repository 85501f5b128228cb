#pragma once

#include <cstdint>
#include <vector>

// The roles of pairwise asynchronous averages on a bipartite graph (AD-PSGD, arXiv 1710.06952,
// section 3): even ranks are active and begin an average, odd ranks are passive and answer. No rank
// waits for one that waits for it.

namespace trigram {

constexpr bool is_passive(int rank) { return rank % 2 == 1; }
std::vector<int> active_ranks(int size);
std::vector<int> passive_ranks(int size);

/// The passive rank that an active one averages with at one of its steps: uniform, independent of
/// other ranks and steps. `size` is at least 2.
int passive_partner(std::uint64_t seed, int rank, int size, long step);

}  // namespace trigram
