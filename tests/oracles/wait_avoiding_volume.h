#pragma once

#include <string>

#include "tests/oracles/algorithm_volume.h"

// The volume that every rank sends if collectives do not wait for late workers. Late workers do not
// change it, because every version runs once, on all ranks.

namespace trigram::test {

/// In every step all gradients are summed as one vector. The models are averaged every `sync_every`
/// steps (0: never).
Traffic eager_sgd_volume(const Layout& layout, const Buckets& buckets, long steps, long sync_every,
                         const std::string& allreduce);

/// Models are summed in groups, by an allreduce or "coded" (MinMaxUInt8). In every tau-th step all
/// models are averaged instead.
Traffic wagma_volume(const Layout& layout, const Buckets& buckets, long steps, long tau,
                     int group_size, const std::string& in_group, const std::string& allreduce);
/// Adds the traffic for one part of the model, of n weights, that is exchanged as one message.
void add_wagma_volume(Traffic& traffic, std::uint64_t n, long steps, long tau, int group_size,
                      const std::string& in_group, const std::string& allreduce);

}  // namespace trigram::test
