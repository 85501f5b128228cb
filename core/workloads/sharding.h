#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// How training samples are distributed over the ranks. Without `dirichlet` all ranks draw from all
/// samples, anew in every epoch (Sampler). With it every rank keeps its own shard.
struct Sharding {
  double dirichlet = 1;
};
/// {"dirichlet": alpha}, or null.
OptionType<std::optional<Sharding>> sharding_kind();

/// The shard of every rank when labels are distributed unevenly: each class is shuffled and cut
/// among the ranks by its own Dirichlet(alpha) draw (arXiv 1905.12022 and, for the effect on
/// averaging, arXiv 1909.06335). Then all shards get the same length, floor(samples / ranks). A
/// rank with more samples puts its excess, chosen at random, into a pool. Ranks with fewer take
/// from the pool, rank by rank, in the order of classes, so that the samples they get are
/// distributed unevenly too. No sample is in two shards; the last (samples mod ranks) samples of
/// the pool are in no shard. Depends on the arguments alone.
std::vector<std::vector<std::uint32_t>> dirichlet_shards(std::span<const std::uint8_t> labels,
                                                         double alpha, int ranks,
                                                         std::uint64_t seed);

}  // namespace trigram
