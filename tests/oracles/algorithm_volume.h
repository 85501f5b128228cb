#pragma once

#include <string>

#include "tests/oracles/volume.h"

// The volume that every rank sends in a run, from the description of each algorithm in its paper.

namespace trigram::test {

/// The number of elements of each bucket of the model.
using Buckets = std::vector<std::uint64_t>;

/// Every bucket is exchanged in every step.
Traffic bucket_volume(const Layout& layout, const Buckets& buckets, long steps, bool hierarchical,
                      const VolumeOfExchange& exchange);
/// Every bucket's gradient is averaged in every step.
Traffic gradient_allreduce_volume(const Layout& layout, const Buckets& buckets, long steps,
                                  const std::string& allreduce, bool hierarchical);
/// Every bucket's gradient is averaged in every step, in eight bits between the exchanging ranks.
Traffic bytegrad_volume(const Layout& layout, const Buckets& buckets, long steps, bool hierarchical,
                        const std::string& phase2 = "allgather");
/// The whole model is exchanged in every step; the modes are all (an allreduce), shift_one and
/// ring.
Traffic decentralized_volume(const Layout& layout, const Buckets& buckets, long steps,
                             const std::string& mode, const std::string& allreduce,
                             bool hierarchical);
/// Gradients are averaged in the first steps. Then every round is an allreduce of the whole model.
Traffic async_model_average_volume(const Layout& layout, const Buckets& buckets, long warmup_steps,
                                   long rounds, const std::string& allreduce);

}  // namespace trigram::test
