#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/config/option_type.h"
#include "core/random/philox.h"

namespace trigram {

/// Gives every rank its own shard of the training samples. Without a Sharding all ranks draw from
/// all samples, anew in every epoch (Sampler).
struct Sharding {
  double dirichlet = 1;  // alpha of dirichlet_shards
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

/// Selects the samples that a rank trains on. An epoch has floor(samples / (ranks * batch)) steps.
/// Within an epoch, rank r takes positions r, r + ranks, r + 2 ranks, ... of a Philox permutation
/// keyed by (seed, epoch), which is the same in every world. A rank with its own shard takes the
/// first positions of a permutation of that shard, which is also keyed by the rank; its epoch has
/// the same number of steps.
class Sampler {
 public:
  /// Throws InvariantError if there are fewer samples than one step takes.
  Sampler(std::size_t samples, std::size_t batch, int rank, int ranks, std::uint64_t seed);

  /// For a rank that uses only `shard`, whose length must be floor(samples / ranks).
  Sampler(std::vector<std::uint32_t> shard, std::size_t batch, int rank, std::uint64_t seed);

  std::size_t steps_per_epoch() const { return steps_per_epoch_; }
  /// The mini-batch of the rank's next step; valid until the next call.
  std::span<const std::uint32_t> next();
  /// Skips the next `count` mini-batches.
  void skip(long count) {
    step_ += count;
    epoch_.clear();
  }

 private:
  void draw_epoch();

  std::size_t samples_, batch_, steps_per_epoch_;
  int rank_, ranks_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> shard_;  // empty: all ranks share all samples
  long step_ = 0;
  std::vector<std::uint32_t> epoch_;  // this rank's samples in the current epoch
};

}  // namespace trigram
