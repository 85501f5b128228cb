#include "core/workloads/loader.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/config/option_type.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

using Order = LoaderOptions::Order;

/// Sorts `order` by size plus noise.
void sort_by_noisy_size(std::vector<std::uint32_t>& order, std::span<const std::size_t> sizes,
                        double random_level, Philox& random) {
  const auto [smallest, largest] = std::ranges::minmax(sizes);
  const auto range = static_cast<double>(largest - smallest);
  const auto noise = static_cast<std::uint32_t>(range * random_level + 1);
  std::vector<std::size_t> noisy(sizes.begin(), sizes.end());
  if (noise > 1)
    for (std::size_t& size : noisy) size += random.below(noise);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t sample) { return noisy[sample]; });
}

/// Where the mini-batches of all ranks in [first, last) end, so that no sum of sizes is above
/// `tokens`.
std::vector<std::size_t> ends_by_tokens(std::span<const std::uint32_t> order,
                                        std::span<const std::size_t> sizes, std::size_t ranks,
                                        std::size_t first, std::size_t last, std::size_t tokens) {
  std::vector<std::size_t> ends, sums(ranks);
  const std::size_t positions = order.size() / ranks;
  for (std::size_t p = 0; p < positions; ++p) {
    const auto size = [&](std::size_t rank) { return sizes[order[p * ranks + rank]]; };
    bool full = false;
    for (std::size_t r = first; r < last; ++r) full |= sums[r] + size(r) > tokens;
    if (full && p > 0) {
      ends.push_back(p);
      std::ranges::fill(sums, 0);
    }
    for (std::size_t r = first; r < last; ++r) sums[r] += size(r);
  }
  ends.push_back(positions);
  return ends;
}

std::vector<std::size_t> ends_by_count(std::size_t positions, std::size_t batch, bool drop_last) {
  std::vector<std::size_t> ends;
  for (std::size_t end = batch; end <= positions; end += batch) ends.push_back(end);
  if (!drop_last && positions % batch != 0) ends.push_back(positions);
  return ends;
}

/// Makes the list as long as `count`: cuts it, or repeats its first mini-batches.
void resize_cyclically(MiniBatches& batches, std::size_t count) {
  const std::size_t own = batches.size();
  batches.resize(count);
  for (std::size_t i = own; i < count; ++i) batches[i] = batches[i % own];
}

}  // namespace

FieldTable<LoaderOptions> loader_fields() {
  return FieldTable<LoaderOptions>{}
      .field("order", &LoaderOptions::order,
             one_of<Order>({{"random", Order::random}, {"balanced", Order::balanced}}),
             "random: workers share a permutation of the samples; balanced: samples of about the "
             "same size are in the same step of all workers")
      .field("random_level", &LoaderOptions::random_level, number(0, 1),
             "range of the random numbers that are added to sizes before samples are sorted, "
             "relative to the range of sizes")
      .only_where([](const LoaderOptions& o) { return o.order == Order::balanced; },
                  "only the order balanced sorts samples")
      .field("tokens", &LoaderOptions::tokens, optional(count(1)),
             "the most tokens of a mini-batch, which then has as many samples as fit")
      .field("drop_last", &LoaderOptions::drop_last, boolean(),
             "true: samples that do not suffice for all workers are left out of an epoch; false: "
             "other samples are repeated to fill up");
}

std::vector<std::uint32_t> epoch_order(std::span<const std::size_t> sizes, int ranks,
                                       const LoaderOptions& options, std::uint64_t seed,
                                       long epoch) {
  const std::size_t samples = sizes.size(), R = static_cast<std::size_t>(ranks);
  TRIGRAM_CHECK(samples >= R, "{} samples for {} ranks", samples, ranks);
  Philox random(seed, 0, epoch, Purpose::data_order);
  auto order = random.permutation(static_cast<std::uint32_t>(samples));
  if (options.drop_last) order.resize(samples / R * R);
  if (options.order == Order::balanced)
    sort_by_noisy_size(order, sizes, options.random_level, random);
  if (const std::size_t in_last = order.size() % R; in_last > 0) {
    const std::vector<std::uint32_t> group(order.data() + samples - R, order.data() + samples);
    order.resize(samples - in_last);
    order.insert(order.end(), group.begin(), group.end());
  }
  if (options.order == Order::random) return order;
  std::vector<std::uint32_t> permuted;
  permuted.reserve(order.size());
  for (const std::uint32_t group : random.permutation(static_cast<std::uint32_t>(order.size() / R)))
    permuted.insert(permuted.end(), order.data() + group * R, order.data() + (group + 1) * R);
  return permuted;
}

MiniBatches mini_batches(std::span<const std::size_t> sizes, int rank, int ranks,
                         const LoaderOptions& options, std::size_t batch, std::uint64_t seed,
                         long epoch) {
  const auto order = epoch_order(sizes, ranks, options, seed, epoch);
  const auto R = static_cast<std::size_t>(ranks), own = static_cast<std::size_t>(rank);
  std::vector<std::size_t> ends;
  std::size_t count = 0;
  if (!options.tokens || options.order == Order::balanced) {
    ends = options.tokens ? ends_by_tokens(order, sizes, R, 0, R, *options.tokens)
                          : ends_by_count(order.size() / R, batch, options.drop_last);
    count = ends.size();
  } else {
    for (std::size_t r = 0; r < R; ++r) {
      auto ends_of_rank = ends_by_tokens(order, sizes, R, r, r + 1, *options.tokens);
      const std::size_t n = ends_of_rank.size();
      count = r == 0 ? n : options.drop_last ? std::min(count, n) : std::max(count, n);
      if (r == own) ends = std::move(ends_of_rank);
    }
  }
  MiniBatches batches(ends.size());
  for (std::size_t i = 0, p = 0; i < ends.size(); ++i)
    for (; p < ends[i]; ++p) batches[i].push_back(order[p * R + own]);
  resize_cyclically(batches, count);
  return batches;
}

Loader::Loader(Sizes sizes, const LoaderOptions& options, std::size_t batch, int rank, int ranks,
               std::uint64_t seed)
    : sizes_(std::move(sizes)),
      options_(options),
      batch_(batch),
      mean_batch_(batch),
      rank_(rank),
      ranks_(ranks),
      seed_(seed) {
  draw_epoch();
  if (!options_.tokens) return;
  const std::size_t positions = sizes_->size() / static_cast<std::size_t>(ranks);
  mean_batch_ = (positions + batches_.size() / 2) / batches_.size();
}

std::span<const std::uint32_t> Loader::next() {
  if (next_ == batches_.size()) {
    ++epoch_;
    next_ = 0;
    draw_epoch();
  }
  return batches_[next_++];
}

void Loader::draw_epoch() {
  batches_ = mini_batches(*sizes_, rank_, ranks_, options_, batch_, seed_, epoch_);
  TRIGRAM_CHECK(!batches_.empty(), "{} samples are fewer than {} ranks x batch {}", sizes_->size(),
                ranks_, batch_);
}

}  // namespace trigram
