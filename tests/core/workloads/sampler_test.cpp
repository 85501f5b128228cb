#include "core/workloads/sampler.h"

#include <gtest/gtest.h>

#include <set>

#include "core/check.h"
#include "core/random/philox.h"

namespace trigram::sampler_test {
namespace {

std::vector<std::uint32_t> next(Sampler& sampler) {
  const auto batch = sampler.next();
  return {batch.begin(), batch.end()};
}

TEST(Sampler, EveryRankTakesItsPositionsOfThePermutation) {
  const std::size_t samples = 103, batch = 5;
  const int ranks = 4;
  for (int rank = 0; rank < ranks; ++rank) {
    Sampler sampler(samples, batch, rank, ranks, 9);
    ASSERT_EQ(sampler.steps_per_epoch(), 5u);  // floor(103 / 20)
    for (long step = 0; step < 15; ++step) {   // three epochs
      const long epoch = step / 5, within = step % 5;
      const auto order = Philox(9, 0, epoch, Purpose::data_order).permutation(samples);
      const auto taken = next(sampler);
      ASSERT_EQ(taken.size(), batch);
      for (long i = 0; i < 5; ++i)
        EXPECT_EQ(taken[static_cast<std::size_t>(i)],
                  order[static_cast<std::size_t>(rank + ranks * (within * 5 + i))]);
    }
  }
}

TEST(Sampler, NoSampleIsTakenTwiceInAnEpochAndEpochsDiffer) {
  std::vector<std::vector<std::uint32_t>> first_batches;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::multiset<std::uint32_t> taken;
    for (int rank = 0; rank < 3; ++rank) {
      Sampler sampler(60, 4, rank, 3, 1);
      for (int skipped = 0; skipped < 5 * epoch; ++skipped) sampler.next();
      for (int step = 0; step < 5; ++step)
        for (std::uint32_t sample : next(sampler)) taken.insert(sample);
    }
    EXPECT_EQ(taken.size(), 60u);
    EXPECT_EQ(std::set<std::uint32_t>(taken.begin(), taken.end()).size(), 60u);
    Sampler again(60, 4, 0, 3, 1);
    for (int skipped = 0; skipped < 5 * epoch; ++skipped) again.next();
    first_batches.push_back(next(again));
  }
  EXPECT_NE(first_batches[0], first_batches[1]);
  EXPECT_NE(first_batches[1], first_batches[2]);
}

TEST(Sampler, SeedsDiffer) {
  Sampler a(1000, 10, 0, 1, 1), b(1000, 10, 0, 1, 2);
  EXPECT_NE(next(a), next(b));
}

TEST(Sampler, AStepThatNeedsMoreThanAllSamplesIsRefused) {
  EXPECT_THROW(Sampler(19, 5, 0, 4, 1), InvariantError);
}

}  // namespace
}  // namespace trigram::sampler_test
