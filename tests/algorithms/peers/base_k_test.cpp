#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithms/peers/registry.h"
#include "tests/support/mixing.h"

// The graph that yields the exact mean for any number of ranks, although each rank has few peers.

namespace trigram::test::base_k_test {
namespace {

std::unique_ptr<PeerGraph> base_k(int peers) {
  return make_peer_graph({"base_k", {{"peers", peers}}});
}

TEST(BaseK, YieldsTheMeanAfterAPeriodForAnyNumberOfRanks) {
  for (const int k : {1, 2, 3, 4})
    for (int size = 1; size <= 40; ++size) {
      SCOPED_TRACE(testing::Message() << "k = " << k << ", " << size << " ranks");
      const auto graph = base_k(k);
      Matrix w = assemble(*graph, size, 0);
      for (long t = 1; t < graph->period(size); ++t) w = product(assemble(*graph, size, t), w);
      for (const auto& row : w)
        for (const double x : row) EXPECT_NEAR(x, 1.0 / size, 1e-6);
    }
}

TEST(BaseK, GivesNoRankMoreThanKPeers) {
  for (const int k : {1, 2, 3, 4}) {
    const auto graph = base_k(k);
    std::size_t most = 0;
    for (int size = 1; size <= 40; ++size)
      for (long t = 0; t < graph->period(size); ++t)
        for (int rank = 0; rank < size; ++rank)
          most = std::max(most, graph->peers(rank, size, t).send_to.size());
    EXPECT_EQ(most, static_cast<std::size_t>(k));
  }
}

/// There are at most 2 log n / log(k+1) + 2 rounds. If n has only small factors, there are as many
/// rounds as factors.
TEST(BaseK, TakesFewRounds) {
  for (const int k : {1, 2, 3, 4})
    for (int size = 2; size <= 200; ++size)
      EXPECT_LE(static_cast<double>(base_k(k)->period(size)),
                2 * std::log(size) / std::log(k + 1) + 2 + 1e-9)
          << "k = " << k << ", " << size << " ranks";
  for (const auto& [k, size, rounds] : {std::tuple{1, 32, 5},
                                        {2, 9, 2},
                                        {2, 12, 3},
                                        {3, 12, 2},
                                        {3, 16, 2},
                                        {4, 25, 2},
                                        {4, 60, 3},
                                        {7, 7, 1}})
    EXPECT_EQ(base_k(k)->period(size), rounds) << "k = " << k << ", " << size << " ranks";
  // 5 = 4 + 1: the four average among themselves, then all exchange with the fifth, then the four
  // average again.
  EXPECT_EQ(base_k(1)->period(5), 5);
  // 6 = 2 * 3: two copies of 2 + 1, then each rank exchanges with its counterpart. The form 4 + 2
  // is not used.
  EXPECT_EQ(base_k(1)->period(6), 4);
}

/// Three ranks in pairs are 2 + 1. Both ranks of the pair have the pair's mean. The third rank
/// exchanges with one of them such that it gets the mean of all three.
TEST(BaseK, WeighsDigitsByTheirRanks) {
  const auto graph = base_k(1);
  const Matrix first = {{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 0, 1}};
  const Matrix second = assemble(*graph, 3, 1);
  EXPECT_EQ(assemble(*graph, 3, 0), first);
  EXPECT_NEAR(second[2][0], 2.0 / 3, 1e-6);
  EXPECT_NEAR(second[0][2], 2.0 / 3, 1e-6);
  EXPECT_NEAR(second[1][1], 1, 1e-6);
  EXPECT_EQ(assemble(*graph, 3, 2), first);
}

}  // namespace
}  // namespace trigram::test::base_k_test
