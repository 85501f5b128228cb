#include <gtest/gtest.h>

#include <numeric>

#include "tests/oracles/closed_forms.h"
#include "tests/oracles/volume.h"

// Compares the oracles with the textbook formulas where these apply: powers of two, even cuts.

namespace trigram::test::oracles_test {
namespace {

constexpr CostModel kModel{
    .alpha_s = 3e-6, .beta_s = 1e-9, .launch_s = 1e-6, .memory_s = 2e-12, .flop_s = 1e-13};

TEST(ClosedForms, MatchTheTextbookOnPowersOfTwo) {
  const double a = kModel.alpha_s, b = 4 * kModel.beta_s;
  const std::size_t n = 1 << 20;
  const CostModel free{.alpha_s = a, .beta_s = kModel.beta_s};
  for (int P : {2, 4, 16, 256}) {
    const double N = static_cast<double>(n), lg = floor_log2(P), p = P, moved = N * (p - 1) / p * b;
    EXPECT_DOUBLE_EQ(ring_allreduce_s(free, P, n, false), 2 * (p - 1) * a + 2 * moved);
    EXPECT_DOUBLE_EQ(recursive_doubling_allreduce_s(free, P, n, true), lg * (a + N * b));
    EXPECT_DOUBLE_EQ(rabenseifner_allreduce_s(free, P, n, true), 2 * lg * a + 2 * moved);
    EXPECT_DOUBLE_EQ(recursive_halving_reduce_scatter_s(free, P, n, true), lg * a + moved);
    EXPECT_DOUBLE_EQ(recursive_doubling_allgather_s(free, P, n), lg * a + moved);
    // On the longest path a rank with i children sends to all of them at once, for i = lg P, lg P -
    // 1, ..., 1.
    EXPECT_DOUBLE_EQ(binomial_broadcast_s(free, P, n), lg * a + lg * (lg + 1) / 2 * N * b);
    EXPECT_DOUBLE_EQ(binomial_reduce_s(free, P, n, false), lg * (a + N * b));
    EXPECT_DOUBLE_EQ(direct_alltoall_s(free, P, n), a + moved);
    EXPECT_NEAR(pipelined_broadcast_s(free, P, n, 8) / ((p - 1) * a + (p - 2 + 8) * N / 8 * b), 1,
                1e-14);
  }
}

TEST(ClosedForms, ReductionsAreChargedWhereTheyHappen) {
  const std::size_t n = 1 << 20;
  for (int P : {2, 8, 64}) {
    CostModel free = kModel;
    free.launch_s = free.memory_s = free.flop_s = 0;
    const std::size_t part = n / static_cast<std::size_t>(P);
    EXPECT_NEAR(ring_allreduce_s(kModel, P, n, true) - ring_allreduce_s(free, P, n, true),
                (P - 1) * kModel.accumulate(part) + kModel.scale(part), 1e-15);
    EXPECT_NEAR(binomial_reduce_s(kModel, P, n, false) - binomial_reduce_s(free, P, n, false),
                floor_log2(P) * kModel.accumulate(n), 1e-15);
  }
}

/// If all chunks are equal, channels only add one launch for each further chunk of a stage.
TEST(ClosedForms, ChannelledRingsTakeAboutAsLongAsOneRing) {
  for (const int P : {4, 16, 64})
    for (const int channels : {1, 4})
      EXPECT_NEAR(
          channelled_ring_allreduce_s(kModel, P, 1 << 20, true, channels) /
              (ring_allreduce_s(kModel, P, 1 << 20, true) + (channels - 1) * P * kModel.launch_s),
          1, 1e-12);
}

TEST(ClosedForms, FoldedRanksAddTheStatedSteps) {
  const std::size_t n = 1000;
  const double before = kModel.message(n) + kModel.accumulate(n), after = kModel.message(n);
  EXPECT_DOUBLE_EQ(recursive_doubling_allreduce_s(kModel, 7, n, true),
                   before + recursive_doubling_allreduce_s(kModel, 4, n, true) + after);
  EXPECT_DOUBLE_EQ(rabenseifner_allreduce_s(kModel, 3, n, true),
                   before + rabenseifner_allreduce_s(kModel, 2, n, true) + after);
  // For three ranks and 999 elements: rank 0 sends 999 elements to rank 1. Rank 1 then sends a
  // third to rank 2, while rank 2 sends two thirds to rank 1. Finally rank 0 gets its third back.
  EXPECT_DOUBLE_EQ(recursive_halving_reduce_scatter_s(kModel, 3, 999, false),
                   kModel.message(999) + kModel.accumulate(999) + kModel.message(666) +
                       kModel.accumulate(666) + kModel.message(333));
}

TEST(ClosedForms, EmptyMessagesCostLatencyOnly) {
  EXPECT_DOUBLE_EQ(ring_allreduce_s(kModel, 5, 0, true), 8 * kModel.alpha_s);
  EXPECT_DOUBLE_EQ(rabenseifner_allreduce_s(kModel, 5, 0, true), 6 * kModel.alpha_s);
  EXPECT_DOUBLE_EQ(pipelined_broadcast_s(kModel, 5, 0, 3), 4 * kModel.alpha_s);
}

std::uint64_t total_bytes(const Traffic& traffic) {
  std::uint64_t total = 0;
  for (int r : all_ranks(traffic.layout()))
    total += traffic.sent_by(r).bytes_intra + traffic.sent_by(r).bytes_inter;
  return total;
}

TEST(Volume, AllreducesMoveTheTextbookAmounts) {
  for (int P : {2, 4, 16}) {
    const Layout layout(P, 1);
    const std::uint64_t n = 1 << 12, bytes = 4 * n, p = static_cast<std::uint64_t>(P);
    for (const char* algorithm : {"ring", "rabenseifner"}) {
      Traffic traffic(layout);
      add_allreduce(traffic, all_ranks(layout), n, algorithm);
      for (int r = 0; r < P; ++r)
        EXPECT_EQ(traffic.sent_by(r).bytes_inter, 2 * bytes * (p - 1) / p);
    }
    Traffic traffic(layout);
    add_allreduce(traffic, all_ranks(layout), n, "recursive_doubling");
    EXPECT_EQ(traffic.sent_by(0).bytes_inter, bytes * static_cast<std::uint64_t>(floor_log2(P)));
  }
}

TEST(Volume, UnevenRingMovesEveryPartOver2TimesPMinus1Hops) {
  const Layout layout(7, 1);
  Traffic traffic(layout);
  add_allreduce(traffic, all_ranks(layout), 1000, "ring");
  EXPECT_EQ(total_bytes(traffic), 4u * 1000 * 2 * 6);  // every part makes 2 (P - 1) hops
}

TEST(Volume, HierarchyHasTheStatedTrafficInsideAndBetweenNodes) {
  const Layout layout(4, 4);
  Traffic traffic(layout);
  add_hierarchical(traffic, 64, [](Traffic& t, const Members& members, std::uint64_t n) {
    add_allreduce(t, members, n, "ring");
  });
  EXPECT_EQ(traffic.sent_by(0),
            (Sent{2 * 256, 2 * 3 * 64, 2, 6}));  // to two children, and in the ring of leaders
  EXPECT_EQ(traffic.sent_by(1), (Sent{256, 0, 1, 0}));      // up to the leader
  EXPECT_EQ(traffic.sent_by(2), (Sent{2 * 256, 0, 2, 0}));  // up, and down to rank 3
}

}  // namespace
}  // namespace trigram::test::oracles_test
