// Subsets of a communicator follow the same rules, with their own ranks.

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "core/subset.h"
#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class SubsetTest : public WorldTest {};
INSTANTIATE_TEST_SUITE_P(Conformance08, SubsetTest, every_variant(1, 2, 5, 8), world_test_name);

/// Passes unique values once around the ring of ctx.comm; expects the values of the previous
/// member.
void shift(const Context& ctx, const std::vector<int>& members) {
  const int source = (ctx.rank() + ctx.size() - 1) % ctx.size();
  const Tensor in = ctx.device->empty(20);
  ctx.comm->transfer(std::array{Transfer{Transfer::send, unique_tensor(ctx, 20, ctx.world_rank),
                                         (ctx.rank() + 1) % ctx.size()},
                                Transfer{Transfer::recv, in, source}});
  expect_unique_values(ctx, in, members[static_cast<std::size_t>(source)]);
}

TEST_P(SubsetTest, RanksFollowTheOrderOfTheMembers) {
  run([](Context ctx) {
    std::vector<int> reversed(static_cast<std::size_t>(ctx.size()));
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    Subset all(*ctx.comm, reversed);
    const Context within = ctx.with(all);
    EXPECT_EQ(within.rank(), ctx.size() - 1 - ctx.rank());
    EXPECT_EQ(within.size(), ctx.size());
    EXPECT_EQ(within.world_rank, ctx.world_rank);
    EXPECT_EQ(within.world_size, ctx.world_size);
    shift(within, reversed);
  });
}

TEST_P(SubsetTest, DisjointSubsetsDoNotDisturbEachOther) {
  run([](Context ctx) {
    std::vector<int> members;  // ranks of the same parity
    for (int r = ctx.rank() % 2; r < ctx.size(); r += 2) members.push_back(r);
    Subset mine(*ctx.comm, members);
    for (int round = 0; round < 5; ++round) shift(ctx.with(mine), members);
  });
}

TEST_P(SubsetTest, SubsetsOfSubsetsTranslateTwice) {
  run([](Context ctx) {
    if (ctx.rank() == 0) return;  // this rank is no member; creating a subset is not collective
    std::vector<int> outer_members(static_cast<std::size_t>(ctx.size() - 1));
    std::iota(outer_members.begin(), outer_members.end(), 1);
    Subset outer(*ctx.comm, outer_members);
    std::vector<int> inner_members(outer_members.size());  // the ranks of `outer`, reversed
    std::iota(inner_members.rbegin(), inner_members.rend(), 0);
    Subset inner(outer, inner_members);
    std::vector<int> world_ranks(outer_members.rbegin(), outer_members.rend());
    shift(ctx.with(inner), world_ranks);
  });
}

TEST_P(SubsetTest, NodesAndLeadersMakeAHierarchy) {
  run_in_world(world(), multi_worker_nodes(ranks()), [](Context ctx) {
    const auto& node = ctx.layout->node_members(ctx.world_rank);
    Subset intra(*ctx.comm, node);
    shift(ctx.with(intra), node);
    if (ctx.layout->is_leader(ctx.world_rank)) {
      Subset inter(*ctx.comm, ctx.layout->leaders());
      shift(ctx.with(inter), ctx.layout->leaders());
    }
    shift(ctx.with(intra), node);
  });
}

TEST_P(SubsetTest, LargeBatchesAreTranslatedToo) {
  run([](Context ctx) {
    std::vector<int> reversed(static_cast<std::size_t>(ctx.size()));
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    Subset all(*ctx.comm, reversed);
    std::vector<Transfer> batch;
    for (int peer = 0; peer < all.size(); ++peer) {
      batch.push_back({Transfer::send, unique_tensor(ctx, 9, ctx.world_rank), peer});
      batch.push_back({Transfer::recv, ctx.device->empty(9), peer});
    }
    all.transfer(batch);
    for (const Transfer& t : batch)
      if (t.kind == Transfer::recv)
        expect_unique_values(ctx, t.tensor, reversed[static_cast<std::size_t>(t.peer)]);
  });
}

TEST_P(SubsetTest, OnlyMembersMayMakeOne) {
  if (ranks() == 1) GTEST_SKIP() << "takes two ranks";
  const WorldError e = error([](Context ctx) {
    const std::vector<int> members{0};
    Subset(*ctx.comm, members);
  });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
}

}  // namespace
}  // namespace trigram::test
