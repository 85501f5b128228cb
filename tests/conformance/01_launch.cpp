// The first duty of a runtime: it calls the main task once per rank, with a correct Context.

#include <gtest/gtest.h>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class Launch : public WorldTest {};
INSTANTIATE_TEST_SUITE_P(Conformance01, Launch, every_world(1, 2, 3, 8), world_test_name);

TEST_P(Launch, CallsEachRankOnce) {
  const auto ranks_seen = results_in_world(
      world(), flat_cluster(ranks()), [](Context ctx) { return std::to_string(ctx.world_rank); });
  ASSERT_EQ(ranks_seen.size(), static_cast<std::size_t>(ranks()));
  for (int rank = 0; rank < ranks(); ++rank)
    EXPECT_EQ(ranks_seen[static_cast<std::size_t>(rank)], std::to_string(rank));
}

TEST_P(Launch, FillsTheContext) {
  run([&](Context ctx) {
    ASSERT_NE(ctx.stream, nullptr);
    ASSERT_NE(ctx.comm, nullptr);
    ASSERT_NE(ctx.control, nullptr);
    ASSERT_NE(ctx.device, nullptr);
    ASSERT_NE(ctx.layout, nullptr);
    EXPECT_EQ(ctx.world_size, ranks());
    EXPECT_EQ(ctx.size(), ranks());
    EXPECT_EQ(ctx.rank(), ctx.world_rank);
    EXPECT_EQ(ctx.stream->name(), "main");
  });
}

TEST_P(Launch, HandsOnTheLayout) {
  const Cluster cluster = multi_worker_nodes(ranks());
  const int workers = static_cast<int>(cluster.workers_per_node);
  run_in_world(world(), cluster, [&](Context ctx) {
    EXPECT_EQ(ctx.world_size, cluster.ranks());
    ASSERT_EQ(ctx.layout->ranks(), cluster.ranks());
    EXPECT_EQ(ctx.layout->node_of(ctx.world_rank), ctx.world_rank / workers);
  });
}

TEST_P(Launch, GivesADeviceThatHoldsValues) {
  run([](Context ctx) {
    expect_unique_values(ctx, unique_tensor(ctx, 100, ctx.world_rank), ctx.rank());
  });
}

}  // namespace
}  // namespace trigram::test
