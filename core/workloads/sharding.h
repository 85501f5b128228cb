#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// How training samples are shared among the ranks. Without `dirichlet` all ranks draw from all
/// samples, anew in every epoch (Sampler); with it every rank keeps a shard of its own.
struct Sharding {
  double dirichlet = 1;
};
/// {"dirichlet": alpha}, or null.
OptionType<std::optional<Sharding>> sharding_kind();

/// The shard of every rank where labels are shared unevenly: each class is shuffled and cut among
/// the ranks by a Dirichlet(alpha) draw of its own (arXiv 1905.12022 and, for the effect on
/// averaging, arXiv 1909.06335). Then shards are made equally long, floor(samples / ranks): a rank
/// with more gives the excess, chosen at random, to a pool, from which those with less are filled
/// up, rank by rank, in the order of classes, so that what they get is uneven too. No sample is in
/// two shards; the last samples mod ranks of the pool are in none. Depends on the arguments alone.
std::vector<std::vector<std::uint32_t>> dirichlet_shards(std::span<const std::uint8_t> labels,
                                                         double alpha, int ranks,
                                                         std::uint64_t seed);

}  // namespace trigram
