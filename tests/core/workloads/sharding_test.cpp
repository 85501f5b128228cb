#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/workloads/sampler.h"

namespace trigram::sharding_test {
namespace {

constexpr int kClasses = 10;
using Shards = std::vector<std::vector<std::uint32_t>>;

std::vector<std::uint8_t> labels(std::size_t samples) {
  std::vector<std::uint8_t> result;
  for (std::size_t i = 0; i < samples; ++i)
    result.push_back(static_cast<std::uint8_t>(i * 7 % kClasses));
  return result;
}

std::vector<int> histogram(const std::vector<std::uint32_t>& shard,
                           const std::vector<std::uint8_t>& classes) {
  std::vector<int> counts(kClasses, 0);
  for (const std::uint32_t sample : shard) ++counts[classes[sample]];
  return counts;
}

/// The mean over ranks of the share of a rank's most frequent class.
double skew(const Shards& shards, const std::vector<std::uint8_t>& classes) {
  double sum = 0;
  for (const auto& shard : shards)
    sum += static_cast<double>(std::ranges::max(histogram(shard, classes))) /
           static_cast<double>(shard.size());
  return sum / static_cast<double>(shards.size());
}

TEST(DirichletShards, AreDisjointAndEquallyLong) {
  for (const std::size_t samples : {1000u, 1003u})
    for (const int ranks : {1, 3, 16, 64})
      for (const double alpha : {0.001, 0.1, 1.0, 1e6}) {
        SCOPED_TRACE(testing::Message() << samples << " / " << ranks << ", alpha " << alpha);
        const auto shards = dirichlet_shards(labels(samples), alpha, ranks, 4);
        ASSERT_EQ(shards.size(), static_cast<std::size_t>(ranks));
        std::set<std::uint32_t> seen;
        for (const auto& shard : shards) {
          EXPECT_EQ(shard.size(), samples / static_cast<std::size_t>(ranks));
          for (const std::uint32_t sample : shard) {
            EXPECT_LT(sample, samples);
            EXPECT_TRUE(seen.insert(sample).second) << "sample " << sample << " twice";
          }
        }
      }
}

TEST(DirichletShards, OfALargeAlphaHoldAllClassesEvenly) {
  const auto classes = labels(16000);
  for (const auto& shard : dirichlet_shards(classes, 1e5, 16, 1))
    for (const int n : histogram(shard, classes)) EXPECT_NEAR(n, 100, 10);
}

TEST(DirichletShards, OfASmallAlphaHoldFewClasses) {
  const auto classes = labels(16000);
  const double even = skew(dirichlet_shards(classes, 1e5, 16, 1), classes),
               mild = skew(dirichlet_shards(classes, 1, 16, 1), classes),
               strong = skew(dirichlet_shards(classes, 0.1, 16, 1), classes),
               extreme = skew(dirichlet_shards(classes, 0.001, 16, 1), classes);
  EXPECT_LT(even, 0.12);  // a tenth each, if even
  EXPECT_GT(mild, 0.2);
  EXPECT_GT(strong, 0.4);
  EXPECT_GT(extreme, 0.8);
  EXPECT_LT(mild, strong);
  EXPECT_LT(strong, extreme);
}

TEST(DirichletShards, DependOnlyOnTheirArguments) {
  const auto classes = labels(1000);
  EXPECT_EQ(dirichlet_shards(classes, 0.3, 8, 1), dirichlet_shards(classes, 0.3, 8, 1));
  EXPECT_NE(dirichlet_shards(classes, 0.3, 8, 1), dirichlet_shards(classes, 0.3, 8, 2));
}

TEST(ShardSampler, TakesItsShardOncePerEpochInANewOrder) {
  const auto shards = dirichlet_shards(labels(103), 0.2, 4, 9);  // 25 samples each
  for (int rank = 0; rank < 4; ++rank) {
    const auto& shard = shards[static_cast<std::size_t>(rank)];
    Sampler sampler(shard, 5, rank, 9), shared(103, 5, rank, 4, 9);
    ASSERT_EQ(sampler.steps_per_epoch(), shared.steps_per_epoch()) << "as long as without shards";
    std::set<std::vector<std::uint32_t>> orders;
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::vector<std::uint32_t> taken;
      for (std::size_t step = 0; step < sampler.steps_per_epoch(); ++step)
        for (const std::uint32_t sample : sampler.next()) taken.push_back(sample);
      orders.insert(taken);
      EXPECT_EQ(std::set(taken.begin(), taken.end()), std::set(shard.begin(), shard.end()));
      EXPECT_EQ(taken.size(), shard.size());
    }
    EXPECT_EQ(orders.size(), 3u);
  }
}

TEST(ShardSampler, OrdersOfRanksDiffer) {
  const std::vector<std::uint32_t> shard = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Sampler a(shard, 10, 0, 1), b(shard, 10, 1, 1);
  const auto x = a.next(), y = b.next();
  EXPECT_FALSE(std::ranges::equal(x, y));
}

TEST(ShardingOption, IsParsedStrictly) {
  const auto kind = sharding_kind();
  EXPECT_FALSE(kind.parse(nullptr, "/s").has_value());
  EXPECT_EQ(kind.parse({{"dirichlet", 0.3}}, "/s")->dirichlet, 0.3);
  EXPECT_EQ(kind.dump(Sharding{0.3}), Json({{"dirichlet", 0.3}}));
  for (const Json& bad : {Json("iid"), Json{{"dirichlet", 0}}, Json{{"dirichlet", -1}},
                          Json{{"alpha", 1}}, Json::object()})
    EXPECT_THROW(kind.parse(bad, "/s"), ConfigError) << bad;
}

}  // namespace
}  // namespace trigram::sharding_test
