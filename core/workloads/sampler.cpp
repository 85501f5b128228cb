#include "core/workloads/sampler.h"

#include <utility>

#include "core/check.h"
#include "core/random/philox.h"

namespace trigram {

Sampler::Sampler(std::size_t samples, std::size_t batch, int rank, int ranks, std::uint64_t seed)
    : samples_(samples),
      batch_(batch),
      steps_per_epoch_(samples / (static_cast<std::size_t>(ranks) * batch)),
      rank_(rank),
      ranks_(ranks),
      seed_(seed) {
  TRIGRAM_CHECK(steps_per_epoch_ > 0, "{} samples are fewer than {} ranks x batch {}", samples,
                ranks, batch);
}

Sampler::Sampler(std::vector<std::uint32_t> shard, std::size_t batch, int rank, std::uint64_t seed)
    : Sampler(shard.size(), batch, 0, 1, seed) {
  rank_ = rank;
  shard_ = std::move(shard);
}

std::span<const std::uint32_t> Sampler::next() {
  const std::size_t within = static_cast<std::size_t>(step_) % steps_per_epoch_;
  if (within == 0) draw_epoch();
  ++step_;
  return std::span(epoch_).subspan(within * batch_, batch_);
}

void Sampler::draw_epoch() {
  const long epoch = step_ / static_cast<long>(steps_per_epoch_);
  const auto order = Philox(seed_, shard_.empty() ? 0 : rank_, epoch, Purpose::data_order)
                         .permutation(static_cast<std::uint32_t>(samples_));
  // Keeps only this rank's samples, because the permutations of many ranks would fill the memory.
  epoch_.resize(steps_per_epoch_ * batch_);
  for (std::size_t i = 0; i < epoch_.size(); ++i)
    epoch_[i] = !shard_.empty()
                    ? shard_[order[i]]
                    : order[static_cast<std::size_t>(rank_) + i * static_cast<std::size_t>(ranks_)];
}

}  // namespace trigram
