#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random/philox.h"

namespace trigram {

/// Which samples a rank trains on. An epoch is floor(samples / (ranks * batch)) steps; within it,
/// rank r takes positions r, r + ranks, r + 2 ranks, ... of a Philox permutation keyed by (seed,
/// epoch), the same in every world. A rank with a shard of its own takes the first positions of a
/// permutation of that shard, keyed by its rank too; the epoch is as long.
class Sampler {
 public:
  /// Throws InvariantError when there are fewer samples than one step takes.
  Sampler(std::size_t samples, std::size_t batch, int rank, int ranks, std::uint64_t seed);

  /// For a rank whose samples are `shard` alone, floor(samples / ranks) of them.
  Sampler(std::vector<std::uint32_t> shard, std::size_t batch, int rank, std::uint64_t seed);

  std::size_t steps_per_epoch() const { return steps_per_epoch_; }
  /// The mini-batch of the rank's next step; valid until the next call.
  std::span<const std::uint32_t> next();

 private:
  void draw_epoch();

  std::size_t samples_, batch_, steps_per_epoch_;
  int rank_, ranks_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> shard_;  // empty: all samples, shared
  long step_ = 0;
  std::vector<std::uint32_t> epoch_;  // the rank's samples of the present epoch
};

}  // namespace trigram
