#include "algorithms/peers/active_passive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithms/peers/registry.h"

// Which ranks begin an average, and which answer.

namespace trigram::test::active_passive_test {
namespace {

ActivePassive roles(const PeerGraphSpec& graph, int rank, int size) {
  return {make_peer_graph(graph, 7), rank, size, 7};
}

std::set<int> passive_ranks(const PeerGraphSpec& graph, int size) {
  std::set<int> passive;
  for (int rank = 0; rank < size; ++rank)
    if (roles(graph, rank, size).passive()) passive.insert(rank);
  return passive;
}

TEST(ActivePassive, SidesAlternateAlongEdges) {
  using Ranks = std::set<int>;
  EXPECT_EQ(passive_ranks({"bipartite"}, 5), (Ranks{1, 3}));
  EXPECT_EQ(passive_ranks({"ring"}, 6), (Ranks{1, 3, 5}));
  EXPECT_EQ(passive_ranks({"star"}, 4), (Ranks{1, 2, 3}));
  EXPECT_EQ(passive_ranks({"grid"}, 6), (Ranks{1, 3, 5})) << "2 x 3: a chequerboard";
  EXPECT_EQ(passive_ranks({"shift_one"}, 6), (Ranks{3, 4, 5}));
  EXPECT_EQ(passive_ranks({"butterfly", {{"group", 2}}}, 8), (Ranks{1, 2, 4, 7}))
      << "those with an odd number of bits";
  EXPECT_EQ(passive_ranks({"ring"}, 1), Ranks{});
}

TEST(ActivePassive, OnlyRanksOfDifferentRolesAverage) {
  for (const auto& entry : peer_graphs())
    for (const int size : {1, 2, 3, 4, 5, 6, 8, 9, 16}) {
      const auto graph = make_peer_graph({entry.name}, 7);
      if (!graph->size_error(size).empty() || graph->directed() || !is_bipartite(*graph, size))
        continue;
      SCOPED_TRACE(testing::Message() << entry.name << " of " << size);
      for (int rank = 0; rank < size; ++rank) {
        const ActivePassive own = roles({entry.name}, rank, size);
        for (long step = 0; step < 40; ++step) {
          const std::vector<int> peers = graph->peers(rank, size, step).send_to;
          for (const int peer : peers)
            EXPECT_NE(own.passive(), roles({entry.name}, peer, size).passive());
          const auto partner = own.partner(step);
          ASSERT_EQ(partner.has_value(), !peers.empty());
          EXPECT_EQ(partner ? std::count(peers.begin(), peers.end(), *partner) : 1, 1);
        }
      }
    }
}

TEST(ActivePassive, NeedsGraphsWithoutOddCycles) {
  const auto bipartite = [](const PeerGraphSpec& graph, int size) {
    return is_bipartite(*make_peer_graph(graph), size);
  };
  for (const char* graph : {"bipartite", "star", "grid"})
    for (int size = 1; size < 12; ++size) EXPECT_TRUE(bipartite({graph}, size)) << graph << size;
  for (int size = 2; size < 12; ++size) EXPECT_EQ(bipartite({"ring"}, size), size % 2 == 0);
  EXPECT_TRUE(bipartite({"torus"}, 16));
  EXPECT_FALSE(bipartite({"torus"}, 12)) << "3 x 4";
  EXPECT_TRUE(bipartite({"complete"}, 2));
  EXPECT_FALSE(bipartite({"complete"}, 3));
  EXPECT_FALSE(bipartite({"random_matching"}, 4)) << "every two ranks are matched in some step";
  EXPECT_FALSE(bipartite({"butterfly", {{"group", 4}}}, 8)) << "groups of four";
}

/// Each of 6,000 draws has probability 1/4. A count differs from 1,500 by more than 4.5 standard
/// deviations (151) in one of 150,000 tests.
TEST(ActivePassive, OneOfSeveralPeersIsDrawnUniformly) {
  const ActivePassive centre = roles({"star"}, 0, 5);
  std::vector<int> counts(5, 0);
  for (long step = 0; step < 6000; ++step)
    ++counts[static_cast<std::size_t>(centre.partner(step).value())];
  EXPECT_EQ(counts[0], 0);
  for (std::size_t leaf = 1; leaf < 5; ++leaf) EXPECT_NEAR(counts[leaf], 1500, 151);
}

}  // namespace
}  // namespace trigram::test::active_passive_test
