#pragma once

#include <string>

#include "tests/oracles/volume.h"

// The volume that every rank sends in a run, from the description of each algorithm in its paper.
namespace trigram::test {

/// The number of elements of each bucket of the model.
using Buckets = std::vector<std::uint64_t>;
/// The number of elements of the whole model.
std::uint64_t model_size(const Buckets& buckets);

/// Every bucket is exchanged in every step.
Traffic bucket_volume(const Layout& layout, const Buckets& buckets, long steps, bool hierarchical,
                      const VolumeOfExchange& exchange);
/// Every bucket's gradient is averaged in every step.
Traffic gradient_allreduce_volume(const Layout& layout, const Buckets& buckets, long steps,
                                  const std::string& allreduce, bool hierarchical);
/// Every bucket's gradient is averaged in every step, in eight bits. With a hierarchy, only node
/// leaders use eight bits.
Traffic bytegrad_volume(const Layout& layout, const Buckets& buckets, long steps, bool hierarchical,
                        const std::string& phase2 = "allgather");
/// The whole model is exchanged in every step. `mode` is "all" (an allreduce), "shift_one" or
/// "ring".
Traffic decentralized_volume(const Layout& layout, const Buckets& buckets, long steps,
                             const std::string& mode, const std::string& allreduce,
                             bool hierarchical);
/// Gradients are averaged in the first steps. Then every round is an allreduce of the whole model.
Traffic async_model_average_volume(const Layout& layout, const Buckets& buckets, long warmup_steps,
                                   long rounds, const std::string& allreduce);

// The volume that every rank sends in methods whose collectives do not wait for late workers. Late
// workers do not change it, because every collective runs once, on all ranks.

/// In every step all gradients are summed as one vector. The models are averaged every `sync_every`
/// steps (0: never).
Traffic eager_sgd_volume(const Layout& layout, const Buckets& buckets, long steps, long sync_every,
                         const std::string& allreduce);

/// Models are summed in groups, by the allreduce `in_group` or, if that is "coded", by an allgather
/// of MinMaxUInt8 codes. In every tau-th step all models are averaged instead.
Traffic wagma_volume(const Layout& layout, const Buckets& buckets, long steps, long tau,
                     int group_size, const std::string& in_group, const std::string& allreduce);
/// Adds the same traffic for one part of the model, of n weights, which is exchanged separately.
void add_wagma_volume(Traffic& traffic, std::uint64_t n, long steps, long tau, int group_size,
                      const std::string& in_group, const std::string& allreduce);

}  // namespace trigram::test
