#pragma once

#include <string>

#include "tests/oracles/algorithm_volume.h"

// What every rank sends when collectives do not wait for late workers: the same as if nobody were
// late, since every version runs once, on all ranks.

namespace trigram::test {

/// All gradients are summed at once in every step, and the models averaged every `sync_every` (0:
/// never).
Traffic eager_sgd_volume(const Layout& layout, const Buckets& buckets, long steps, long sync_every,
                         const std::string& allreduce);

/// Models are summed in groups, by an allreduce or "coded" (MinMaxUInt8), except for every tau-th
/// step, where all are averaged.
Traffic wagma_volume(const Layout& layout, const Buckets& buckets, long steps, long tau,
                     int group_size, const std::string& in_group, const std::string& allreduce);
/// Adds what it is for one part of the model, n weights, that is exchanged by itself.
void add_wagma_volume(Traffic& traffic, std::uint64_t n, long steps, long tau, int group_size,
                      const std::string& in_group, const std::string& allreduce);

}  // namespace trigram::test
