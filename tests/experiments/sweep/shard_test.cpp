#include "experiments/sweep/shard.h"

#include <gmock/gmock.h>

#include "core/config/config_error.h"

namespace trigram::shard_test {
namespace {

Plan plan_of(std::size_t runs) {
  Plan plan;
  for (std::size_t i = 0; i < runs; ++i) plan.runs.emplace_back().id = std::to_string(i);
  return plan;
}

TEST(Shard, AllShardsTogetherHaveAllRuns) {
  for (const std::size_t count : {1, 3, 8, 11}) {
    std::vector<std::string> ids;
    for (std::size_t number = 1; number <= count; ++number) {
      Plan plan = plan_of(8);
      keep_shard(plan, {number, count});
      EXPECT_LE(plan.runs.size(), (8 + count - 1) / count)
          << "shards of the same size, within one run";
      for (const PlannedRun& run : plan.runs) ids.push_back(run.id);
    }
    EXPECT_THAT(ids, testing::UnorderedElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
  }
}

TEST(Shard, IsParsedFromNumberAndCount) {
  const Shard shard = parse_shard("3/16");
  EXPECT_EQ(shard.number, 3u);
  EXPECT_EQ(shard.count, 16u);
  for (const char* wrong : {"", "3", "3/", "/3", "0/4", "5/4", "-1/4", "1/4x", "1 /4", "1/0"})
    EXPECT_THROW(parse_shard(wrong), ConfigError) << wrong;
}

}  // namespace
}  // namespace trigram::shard_test
