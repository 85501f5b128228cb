#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random/philox.h"

namespace trigram {

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
