#include "core/workloads/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/check.h"
#include "core/workloads/sampler.h"

namespace trigram::loader_test {
namespace {

using Order = LoaderOptions::Order;
using Sizes = std::vector<std::size_t>;

constexpr int kRanks = 4;

/// `count` different sizes between 10 and about 10 + 5 count, in no order.
Sizes distinct_sizes(std::size_t count) {
  Sizes sizes;
  for (std::size_t i = 0; i < count; ++i) sizes.push_back(10 + 5 * (i * 37 % count) + i % 3);
  return sizes;
}

std::vector<MiniBatches> of_all_ranks(const Sizes& sizes, const LoaderOptions& options,
                                      std::size_t batch, long epoch = 0) {
  std::vector<MiniBatches> all;
  for (int rank = 0; rank < kRanks; ++rank)
    all.push_back(mini_batches(sizes, rank, kRanks, options, batch, 5, epoch));
  return all;
}

std::size_t sum_of(const Sizes& sizes, const std::vector<std::uint32_t>& batch) {
  return std::accumulate(batch.begin(), batch.end(), std::size_t{0},
                         [&](std::size_t sum, std::uint32_t i) { return sum + sizes[i]; });
}

/// How often each sample is taken by all ranks together.
std::map<std::uint32_t, int> times_taken(const std::vector<MiniBatches>& all) {
  std::map<std::uint32_t, int> times;
  for (const MiniBatches& batches : all)
    for (const auto& batch : batches)
      for (const std::uint32_t sample : batch) ++times[sample];
  return times;
}

/// The sizes of each position's samples, rank by rank.
std::vector<Sizes> groups_of(const std::vector<std::uint32_t>& order, const Sizes& sizes) {
  std::vector<Sizes> groups(order.size() / kRanks);
  for (std::size_t i = 0; i < order.size(); ++i) groups[i / kRanks].push_back(sizes[order[i]]);
  return groups;
}

TEST(Loader, SelectsTheSamplesOfSamplerByDefault) {
  const auto sizes = std::make_shared<Sizes>(distinct_sizes(103));
  for (int rank = 0; rank < kRanks; ++rank) {
    Loader loader(sizes, {}, 5, rank, kRanks, 9);
    Sampler sampler(103, 5, rank, kRanks, 9);
    for (int step = 0; step < 15; ++step) {  // three epochs
      const auto expected = sampler.next(), taken = loader.next();
      EXPECT_TRUE(std::ranges::equal(expected, taken)) << rank << ' ' << step;
    }
    EXPECT_EQ(loader.batch(), 5u);
  }
}

TEST(Loader, RefusesFewerSamplesThanAStepTakes) {
  const auto sizes = std::make_shared<Sizes>(distinct_sizes(19));
  EXPECT_THROW(Loader(sizes, {}, 5, 0, 4, 1), InvariantError);
  EXPECT_THROW(epoch_order(Sizes{1, 2, 3}, 4, {.order = Order::balanced}, 1, 0), InvariantError);
}

/// Without noise, the positions hold the groups of the sorted list, and rank r has element r of its
/// group.
TEST(BalancedOrder, DealsTheGroupsOfTheSortedListInRandomOrder) {
  const Sizes sizes = distinct_sizes(100);
  Sizes sorted = sizes;
  std::ranges::sort(sorted);
  std::set<Sizes> expected;
  for (std::size_t i = 0; i < sorted.size(); i += kRanks)
    expected.emplace(sorted.data() + i, sorted.data() + i + kRanks);
  std::vector<std::vector<Sizes>> epochs;
  for (long epoch = 0; epoch < 2; ++epoch) {
    epochs.push_back(
        groups_of(epoch_order(sizes, kRanks, {.order = Order::balanced}, 5, epoch), sizes));
    EXPECT_EQ(epochs.back().size(), 25u);
    EXPECT_EQ(std::set(epochs.back().begin(), epochs.back().end()), expected);
    EXPECT_FALSE(std::ranges::is_sorted(epochs.back()));
  }
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(BalancedOrder, FillsTheLastGroupWithItsNeighbours) {
  for (const std::size_t samples : {101, 102, 103}) {
    const Sizes sizes = distinct_sizes(samples);
    const auto order =
        epoch_order(sizes, kRanks, {.order = Order::balanced, .drop_last = false}, 5, 0);
    ASSERT_EQ(order.size(), 104u);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), samples) << "every sample is taken";
    // The group of the largest sample holds the four largest samples.
    Sizes sorted = sizes;
    std::ranges::sort(sorted);
    const Sizes largest(sorted.end() - kRanks, sorted.end());
    EXPECT_EQ(std::ranges::count(groups_of(order, sizes), largest), 1) << samples;
  }
}

TEST(BalancedOrder, LeavesOutOtherSamplesInEveryEpoch) {
  const Sizes sizes = distinct_sizes(103);
  std::set<std::uint32_t> left_out;
  for (long epoch = 0; epoch < 20; ++epoch) {
    const auto order = epoch_order(sizes, kRanks, {.order = Order::balanced}, 5, epoch);
    const std::set taken(order.begin(), order.end());
    EXPECT_EQ(order.size(), 100u);
    EXPECT_EQ(taken.size(), 100u) << "no sample is taken twice";
    for (std::uint32_t i = 0; i < 103; ++i)
      if (!taken.contains(i)) left_out.insert(i);
  }
  EXPECT_GT(left_out.size(), 20u);
}

/// The mean difference between the largest and the smallest sample of a position.
double spread(const Sizes& sizes, const LoaderOptions& options) {
  const auto groups = groups_of(epoch_order(sizes, kRanks, options, 5, 0), sizes);
  double sum = 0;
  for (const Sizes& group : groups) {
    const auto [smallest, largest] = std::ranges::minmax(group);
    sum += static_cast<double>(largest - smallest);
  }
  return sum / static_cast<double>(groups.size());
}

TEST(BalancedOrder, NoiseMovesSamplesAwayFromTheirNeighbours) {
  const Sizes sizes = distinct_sizes(1000);  // a range of about 5000
  const auto at_level = [&](double level) {
    return spread(sizes, {.order = Order::balanced, .random_level = level});
  };
  // Noise below k adds less than k to the differences of 15 to 17 without noise.
  EXPECT_LT(at_level(0), 20);
  EXPECT_GT(at_level(0.1), 100);
  EXPECT_LT(at_level(0.1), 520);
  EXPECT_GT(at_level(1), 2 * at_level(0.1));
  EXPECT_LT(at_level(1), spread(sizes, {}));
}

TEST(MiniBatchesByCount, HoldTheSameNumberOnEveryRank) {
  const Sizes sizes = distinct_sizes(103);
  for (const Order order : {Order::random, Order::balanced})
    for (const bool drop_last : {true, false}) {
      const auto all = of_all_ranks(sizes, {.order = order, .drop_last = drop_last}, 7);
      for (const MiniBatches& batches : all) {
        EXPECT_EQ(batches.size(), drop_last ? 3u : 4u);
        EXPECT_EQ(batches.back().size(), drop_last ? 7u : 5u);  // of 25 or 26 positions
      }
      const auto times = times_taken(all);
      EXPECT_EQ(times.size(), drop_last ? 84u : 103u);
      EXPECT_EQ(std::ranges::count(times, 2, &std::pair<const std::uint32_t, int>::second),
                drop_last ? 0 : 1);
    }
}

/// Over an epoch, the differences within groups add up to at most the range of the sizes.
TEST(MiniBatchesByCount, TotalsOfRanksDifferByNoMoreThanTheRangeOfSizes) {
  const Sizes sizes = distinct_sizes(400);
  const auto [smallest, largest] = std::ranges::minmax(sizes);
  std::vector<std::size_t> totals;
  for (const MiniBatches& batches : of_all_ranks(sizes, {.order = Order::balanced}, 10)) {
    totals.push_back(0);
    for (const auto& batch : batches) totals.back() += sum_of(sizes, batch);
  }
  const auto [least, most] = std::ranges::minmax(totals);
  EXPECT_LE(most - least, largest - smallest);
}

/// The greedy mini-batches of one rank, as a plain loop over its samples.
MiniBatches greedy(const std::vector<std::uint32_t>& order, const Sizes& sizes, std::size_t rank,
                   std::size_t tokens) {
  MiniBatches batches(1);
  for (std::size_t i = rank; i < order.size(); i += kRanks) {
    if (!batches.back().empty() && sum_of(sizes, batches.back()) + sizes[order[i]] > tokens)
      batches.emplace_back();
    batches.back().push_back(order[i]);
  }
  return batches;
}

/// In random order, ranks fill their mini-batches independently, and then agree on their number.
TEST(MiniBatchesByTokens, RandomListsAreCutOrRepeatedToTheSameLength) {
  const Sizes sizes = distinct_sizes(203);
  constexpr std::size_t kTokens = 2100;
  bool cut = false, repeated = false;
  for (long epoch = 0; epoch < 10; ++epoch)
    for (const bool drop_last : {true, false}) {
      const LoaderOptions options{.tokens = kTokens, .drop_last = drop_last};
      const auto order = epoch_order(sizes, kRanks, options, 5, epoch);
      std::vector<MiniBatches> expected;
      for (std::size_t rank = 0; rank < kRanks; ++rank)
        expected.push_back(greedy(order, sizes, rank, kTokens));
      const auto [shortest, longest] = std::ranges::minmax(expected, {}, &MiniBatches::size);
      const std::size_t count = drop_last ? shortest.size() : longest.size();
      for (MiniBatches& batches : expected) {
        cut |= batches.size() > count;
        repeated |= batches.size() < count;
        for (std::size_t i = 0; batches.size() < count; ++i)
          batches.push_back(std::vector(batches[i]));
        batches.resize(count);
      }
      EXPECT_EQ(of_all_ranks(sizes, options, 1, epoch), expected);
    }
  EXPECT_TRUE(cut && repeated) << "the lists of some epochs must differ in length";
}

/// In balanced order, a mini-batch ends on all ranks when one rank's next sample does not fit.
TEST(MiniBatchesByTokens, BalancedMiniBatchesEndAtTheSamePositions) {
  const Sizes sizes = distinct_sizes(203);
  constexpr std::size_t kTokens = 2100;
  for (const double level : {0.0, 0.3})
    for (const bool drop_last : {true, false}) {
      const auto all = of_all_ranks(sizes,
                                    {.order = Order::balanced,
                                     .random_level = level,
                                     .tokens = kTokens,
                                     .drop_last = drop_last},
                                    1);
      EXPECT_EQ(times_taken(all).size(), drop_last ? 200u : 203u);
      for (std::size_t i = 0; i < all[0].size(); ++i) {
        bool full = i + 1 == all[0].size();
        for (const MiniBatches& batches : all) {
          ASSERT_EQ(batches.size(), all[0].size());
          EXPECT_EQ(batches[i].size(), all[0][i].size());
          EXPECT_LE(sum_of(sizes, batches[i]), kTokens);
          if (!full) full = sum_of(sizes, batches[i]) + sizes[batches[i + 1][0]] > kTokens;
        }
        EXPECT_TRUE(full) << "mini-batch " << i << " could have taken another position";
      }
    }
}

TEST(MiniBatchesByTokens, TheBatchSizeIsTheMeanOfAnEpoch) {
  const auto sizes = std::make_shared<Sizes>(Sizes(120, 10));
  const Loader loader(sizes, {.order = Order::balanced, .tokens = 59}, 1, 0, kRanks, 1);
  EXPECT_EQ(loader.batch(), 5u);
}

}  // namespace
}  // namespace trigram::loader_test
