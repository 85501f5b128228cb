#pragma once

#include <cstdint>
#include <vector>

namespace trigram {

/// `count` different ranks of `size`, ascending, drawn anew for every round. Every rank computes
/// the same draw, without communication.
std::vector<int> random_workers(std::uint64_t seed, long round, int count, int size);

}  // namespace trigram
