#include "core/workloads/sharding.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/config/fields.h"
#include "core/config/option_types.h"
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

/// Gives every rank its part of one class.
void share(const Samples& of_class, double alpha, Philox random, std::vector<Samples>& shards) {
  const std::vector<double> shares = dirichlet(random, alpha, shards.size());
  const Samples order = shuffled(of_class, random);
  double cut = 0;
  std::size_t begin = 0;
  for (std::size_t r = 0; r < shards.size(); ++r) {
    cut += shares[r];
    const auto n = static_cast<double>(order.size());
    const auto end = r + 1 == shards.size()
                         ? order.size()
                         : std::min(order.size(), static_cast<std::size_t>(std::floor(cut * n)));
    shards[r].insert(shards[r].end(), order.data() + begin, order.data() + end);
    begin = end;
  }
}

/// Makes all shards `length` long.
void level(std::vector<Samples>& shards, std::size_t length, std::span<const std::uint8_t> labels,
           std::uint64_t seed) {
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
      "alpha of the Dirichlet split of each class over the workers; smaller is more uneven")));
}

std::vector<Samples> dirichlet_shards(std::span<const std::uint8_t> labels, double alpha, int ranks,
                                      std::uint64_t seed) {
  TRIGRAM_CHECK(ranks > 0, "no ranks to share among");
  std::vector<Samples> classes(256), shards(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < labels.size(); ++i)
    classes[labels[i]].push_back(static_cast<std::uint32_t>(i));
  for (std::size_t c = 0; c < classes.size(); ++c)
    share(classes[c], alpha, Philox(seed, static_cast<int>(c), 0, Purpose::data_shards), shards);
  level(shards, labels.size() / shards.size(), labels, seed);
  return shards;
}

}  // namespace trigram
