#include "core/workloads/sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/config/fields.h"
#include "core/config/option_type.h"
#include "core/random/dirichlet.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

using Samples = std::vector<std::uint32_t>;

Samples shuffled(const Samples& samples, Philox& random) {
  Samples result;
  for (const std::uint32_t i : random.permutation(static_cast<std::uint32_t>(samples.size())))
    result.push_back(samples[i]);
  return result;
}

/// Splits the samples of one class over the ranks in random proportions and appends each rank's
/// part to its shard.
void split_class(const Samples& samples, double alpha, Philox random,
                 std::vector<Samples>& shards) {
  const std::vector<double> proportions = dirichlet(random, alpha, shards.size());
  const Samples order = shuffled(samples, random);
  const auto n = static_cast<double>(order.size());
  double cumulative = 0;
  std::size_t begin = 0;
  for (std::size_t r = 0; r < shards.size(); ++r) {
    cumulative += proportions[r];
    const auto end =
        r + 1 == shards.size()
            ? order.size()
            : std::min(order.size(), static_cast<std::size_t>(std::floor(cumulative * n)));
    shards[r].insert(shards[r].end(), order.data() + begin, order.data() + end);
    begin = end;
  }
}

/// Moves samples from shards that are longer than `length` to shards that are shorter, until every
/// shard has `length` samples. Samples that no shard needs are dropped.
void equalize_lengths(std::vector<Samples>& shards, std::size_t length,
                      std::span<const std::uint8_t> labels, std::uint64_t seed) {
  Samples pool;
  for (std::size_t r = 0; r < shards.size(); ++r) {
    if (shards[r].size() <= length) continue;
    Philox random(seed, static_cast<int>(r), 1, Purpose::data_shards);
    shards[r] = shuffled(shards[r], random);
    pool.insert(pool.end(), shards[r].data() + length, shards[r].data() + shards[r].size());
    shards[r].resize(length);
  }
  std::ranges::stable_sort(pool, {}, [&](std::uint32_t sample) { return labels[sample]; });
  std::size_t taken = 0;
  for (Samples& shard : shards)
    while (shard.size() < length) shard.push_back(pool.at(taken++));
}

}  // namespace

OptionType<std::optional<Sharding>> sharding_kind() {
  return optional(nested(FieldTable<Sharding>{}.required(
      "dirichlet", &Sharding::dirichlet, number(1e-3, 1e6),
      "Concentration alpha of the Dirichlet distribution that splits each class over the workers; "
      "smaller values give more uneven shards")));
}

std::vector<Samples> dirichlet_shards(std::span<const std::uint8_t> labels, double alpha, int ranks,
                                      std::uint64_t seed) {
  TRIGRAM_CHECK(ranks > 0, "no ranks to share among");
  std::vector<Samples> classes(256), shards(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < labels.size(); ++i)
    classes[labels[i]].push_back(static_cast<std::uint32_t>(i));
  for (std::size_t c = 0; c < classes.size(); ++c)
    split_class(classes[c], alpha, Philox(seed, static_cast<int>(c), 0, Purpose::data_shards),
                shards);
  equalize_lengths(shards, labels.size() / shards.size(), labels, seed);
  return shards;
}

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
  if (within == 0 || epoch_.empty()) draw_epoch();
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
