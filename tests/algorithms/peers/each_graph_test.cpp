#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "algorithms/peers/butterfly.h"
#include "algorithms/peers/registry.h"
#include "tests/support/mixing.h"

// The definition of each peer graph.

namespace trigram::test::each_graph_test {
namespace {

/// The weights of all ranks after `steps` steps of mixing without gradients. At first rank 0 has
/// weight 1, and all other ranks have 0.
std::vector<double> impulse(const PeerGraph& graph, int size, long steps) {
  Matrix w = assemble(graph, size, 0);
  for (long t = 1; t < steps; ++t) w = product(assemble(graph, size, t), w);
  std::vector<double> column;
  for (const auto& row : w) column.push_back(row[0]);
  return column;
}

TEST(OnePeerExponential, AveragesExactlyInLog2StepsForPowersOfTwoAlone) {
  const auto graph = make_peer_graph({"one_peer_exponential"});
  for (const int size : {2, 4, 8, 16, 32})
    for (const double x : impulse(*graph, size, std::bit_width(unsigned(size)) - 1))
      EXPECT_EQ(x, 1.0 / size);
  for (const int size : {3, 6, 12}) {
    const auto x = impulse(*graph, size, graph->period(size));
    EXPECT_GT(*std::max_element(x.begin(), x.end()) - 1.0 / size, 0.01);
  }
}

TEST(OnePeerExponential, ReceivesFromTheRankAPowerOfTwoBehind) {
  const auto graph = make_peer_graph({"one_peer_exponential"});
  const int hops[] = {1, 2, 4, 8, 1};  // ceil(log2 12) = 4
  for (int t = 0; t < 5; ++t) {
    const Peers peers = graph->peers(3, 12, t);
    ASSERT_EQ(peers.receive_from.size(), 1u);
    EXPECT_EQ(peers.receive_from[0].rank, (3 - hops[t] + 12) % 12);
    EXPECT_EQ(peers.receive_from[0].weight, 0.5f);
    EXPECT_EQ(peers.send_to, std::vector<int>{(3 + hops[t]) % 12});
  }
}

TEST(NPeerExponential, SendsToMultiplesOfPowers) {
  // d = 2, P = 16: hops 1, 2, then 3, 6, then 9, 18 = 2, as long as 3^i < 16.
  const auto graph = make_peer_graph({"n_peer_exponential", {{"peers", 2}}});
  EXPECT_EQ(graph->period(16), 3);
  EXPECT_EQ(graph->peers(0, 16, 0).send_to, (std::vector<int>{1, 2}));
  EXPECT_EQ(graph->peers(0, 16, 1).send_to, (std::vector<int>{3, 6}));
  EXPECT_EQ(graph->peers(0, 16, 2).send_to, (std::vector<int>{9, 2}));
  EXPECT_EQ(graph->peers(0, 16, 3).send_to, (std::vector<int>{1, 2}));
  // A hop that leads all the way round counts towards the rank's own weight. For P = 6 the hops are
  // 3 and 6.
  const Peers round = graph->peers(1, 6, 1);
  EXPECT_EQ(round.send_to, std::vector<int>{4});
  EXPECT_NEAR(round.self_weight, 2.0 / 3, 1e-6);
}

TEST(NPeerExponential, SendsToSuccessivePowersOfTwoIfAskedTo) {
  const PeerGraphSpec two{"n_peer_exponential", {{"peers", 2}, {"hops", "powers"}}};
  const auto graph = make_peer_graph(two);
  const std::vector<int> hops[] = {{1, 2}, {2, 4}, {4, 8}, {8, 1}, {1, 2}};
  for (const int size : {16, 31})  // floor(log2 P) = 4 for both
    for (int t = 0; t < 5; ++t) EXPECT_EQ(graph->peers(0, size, t).send_to, hops[t]);
  EXPECT_EQ(graph->peers(1, 16, 3).receive_from[0].rank, 9);
  // There is only one power of two: both messages go to the same rank.
  EXPECT_NEAR(graph->peers(0, 3, 7).self_weight, 1.0 / 3, 1e-6);
  EXPECT_EQ(graph->peers(0, 3, 7).send_to, std::vector<int>{1});
}

TEST(NPeerExponential, OfOnePeerIsOnePeerExponential) {
  const auto n = make_peer_graph({"n_peer_exponential", {{"peers", 1}}});
  const auto one = make_peer_graph({"one_peer_exponential"});
  for (const int size : {1, 2, 3, 4, 5, 8, 12, 16, 31})
    for (long t = 0; t < 6; ++t) EXPECT_EQ(assemble(*n, size, t), assemble(*one, size, t));
}

TEST(StaticExponential, SendsToEveryPowerOfTwoBelowP) {
  const Peers peers = make_peer_graph({"static_exponential"})->peers(0, 10, 0);
  EXPECT_EQ(peers.send_to, (std::vector<int>{1, 2, 4, 8}));
  EXPECT_NEAR(peers.self_weight, 0.2, 1e-6);
}

TEST(Torus, IsAsSquareAsCanBeAndMergesDuplicates) {
  const auto graph = make_peer_graph({"torus"});
  // 3 x 4: rank 5 is in row 1, column 1.
  const Peers inner = graph->peers(5, 12, 0);
  EXPECT_EQ(std::set<int>(inner.send_to.begin(), inner.send_to.end()), (std::set<int>{1, 4, 6, 9}));
  EXPECT_NEAR(inner.self_weight, 0.2, 1e-6);
  // 2 x 3: both neighbours in a column are the same rank.
  const Peers thin = graph->peers(0, 6, 0);
  ASSERT_EQ(thin.receive_from.size(), 3u);
  for (const auto& source : thin.receive_from)
    EXPECT_NEAR(source.weight, source.rank == 3 ? 0.4 : 0.2, 1e-6);
  // 1 x 5: the neighbours above and below are the rank itself.
  const Peers line = graph->peers(0, 5, 0);
  EXPECT_EQ(line.send_to.size(), 2u);
  EXPECT_NEAR(line.self_weight, 0.6, 1e-6);
}

TEST(Grid, HasMetropolisWeightsAndBorders) {
  const auto graph = make_peer_graph({"grid"});
  // 3 x 3: corners have 2 neighbours, edges 3, the middle 4.
  const Matrix w = assemble(*graph, 9, 0);
  EXPECT_NEAR(w[0][1], 1.0 / 4, 1e-6);
  EXPECT_NEAR(w[0][0], 1.0 / 2, 1e-6);
  EXPECT_NEAR(w[1][4], 1.0 / 5, 1e-6);
  EXPECT_NEAR(w[4][4], 1.0 / 5, 1e-6);
  EXPECT_EQ(w[2][3], 0) << "no edge around the border";
}

/// In every round of three steps there is an order of eight ranks in which peers are 1, 2 and 4
/// positions ahead on the circle, or across the edges of the cube.
TEST(ShuffledExponential, GoesThroughPowersOfTwoOfAnOrderShuffledEveryRound) {
  for (const bool cube : {false, true}) {
    const PeerGraphSpec spec{"shuffled_exponential",
                             {{"topology", cube ? "cube" : "dissemination"}}};
    const auto graph = make_peer_graph(spec, 3);
    std::set<std::vector<int>> orders;
    for (long round = 0; round < 20; ++round) {
      const auto next = [&](int rank, int i) {
        return graph->peers(rank, 8, 3 * round + i).send_to.at(0);
      };
      std::vector<int> order = {0};  // the order begins with rank 0
      for (std::size_t place = 1; place < 8; ++place) {
        const int bit = std::countr_zero(place);
        order.push_back(cube ? next(order[place - (std::size_t{1} << bit)], bit)
                             : next(order.back(), 0));
      }
      EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 8u);
      for (int i = 0; i < 3; ++i)
        for (std::size_t place = 0; place < 8; ++place) {
          const std::size_t hop = std::size_t{1} << i, to = cube ? place ^ hop : (place + hop) % 8;
          EXPECT_EQ(next(order[place], i), order[to]) << "round " << round;
          EXPECT_EQ(graph->peers(order[to], 8, 3 * round + i).receive_from.at(0).rank,
                    order[place]);
        }
      orders.insert(order);
    }
    EXPECT_GT(orders.size(), 15u);
    const auto peers_of_rank_0 = [](const PeerGraph& drawn) {
      std::vector<int> peers;
      for (long t = 0; t < 12; ++t) peers.push_back(drawn.peers(0, 8, t).send_to.at(0));
      return peers;
    };
    EXPECT_NE(peers_of_rank_0(*graph), peers_of_rank_0(*make_peer_graph(spec, 4)))
        << "the seed decides";
  }
  const auto cube = make_peer_graph({"shuffled_exponential", {{"topology", "cube"}}});
  EXPECT_NE(cube->size_error(6), "");
}

TEST(ShuffledExponential, AveragesExactlyInARoundForPowersOfTwo) {
  for (const char* topology : {"dissemination", "cube"})
    for (const int size : {2, 4, 16})
      for (const double x :
           impulse(*make_peer_graph({"shuffled_exponential", {{"topology", topology}}}), size,
                   std::bit_width(unsigned(size)) - 1))
        EXPECT_EQ(x, 1.0 / size);
}

TEST(RandomMatching, IsPerfectAndChanges) {
  const auto graph = make_peer_graph({"random_matching"}, 3);
  std::set<std::vector<int>> matchings;
  for (long t = 0; t < 40; ++t) {
    std::vector<int> partner;
    for (int r = 0; r < 8; ++r) {
      const Peers peers = graph->peers(r, 8, t);
      ASSERT_EQ(peers.send_to.size(), 1u) << "rank " << r << " is matched";
      EXPECT_EQ(peers.self_weight, 0.5f);
      partner.push_back(peers.send_to[0]);
    }
    matchings.insert(partner);
  }
  EXPECT_GT(matchings.size(), 20u);  // of 105 possible matchings
  const auto other_seed = make_peer_graph({"random_matching"}, 4);
  int same = 0;
  for (long t = 0; t < 40; ++t)
    same += other_seed->peers(0, 8, t).send_to == graph->peers(0, 8, t).send_to;
  EXPECT_LT(same, 20);
}

/// The ranks of 7 that have no peer in some step. Checks that there is one such rank in every step.
std::set<int> idle_ranks(const PeerGraph& graph) {
  std::set<int> idle;
  for (long t = 0; t < 100; ++t) {
    int count = 0;
    for (int r = 0; r < 7; ++r)
      if (graph.peers(r, 7, t).send_to.empty()) {
        ++count;
        idle.insert(r);
      }
    EXPECT_EQ(count, 1);
  }
  return idle;
}

TEST(RandomMatching, LeavesOneOfAnOddNumberIdle) {
  EXPECT_EQ(idle_ranks(*make_peer_graph({"random_matching"}, 3)).size(), 7u);
}

TEST(Bipartite, MatchesEvenWithOddRanks) {
  for (const char* hop : {"rotating", "random"}) {
    const auto graph = make_peer_graph({"bipartite", {{"hop", hop}}}, 9);
    std::set<int> partners;
    for (long t = 0; t < 60; ++t) {
      for (int r = 0; r < 10; ++r) {
        const Peers peers = graph->peers(r, 10, t);
        ASSERT_EQ(peers.send_to.size(), 1u);
        EXPECT_NE(peers.send_to[0] % 2, r % 2);
        if (r == 4) partners.insert(peers.send_to[0]);
      }
      for (int r = 0; r < 7; ++r)
        for (const int peer : graph->peers(r, 7, t).send_to) EXPECT_NE(peer % 2, r % 2);
    }
    EXPECT_EQ(partners, (std::set<int>{1, 3, 5, 7, 9}));
  }
}

TEST(Bipartite, LeavesOneEvenRankOfAnOddNumberIdle) {
  for (const char* hop : {"rotating", "random"})
    EXPECT_EQ(idle_ranks(*make_peer_graph({"bipartite", {{"hop", hop}}}, 9)),
              (std::set<int>{0, 2, 4, 6}));
}

TEST(Butterfly, HasTheGroupsOfThePaper) {
  using Group = std::set<int>;
  const auto group = [](int rank, long step) {
    const auto members = butterfly_group(rank, 8, 4, step);
    return Group(members.begin(), members.end());
  };
  for (const int r : {0, 1, 2, 3}) EXPECT_EQ(group(r, 0), (Group{0, 1, 2, 3}));
  for (const int r : {4, 5, 6, 7}) EXPECT_EQ(group(r, 0), (Group{4, 5, 6, 7}));
  for (const int r : {0, 1, 4, 5}) EXPECT_EQ(group(r, 1), (Group{0, 1, 4, 5}));
  for (const int r : {2, 3, 6, 7}) EXPECT_EQ(group(r, 1), (Group{2, 3, 6, 7}));
  EXPECT_EQ(butterfly_group(6, 8, 4, 0), (std::vector<int>{4, 5, 6, 7})) << "in order";
  const auto graph = make_peer_graph({"butterfly", {{"group", 4}}});
  const Peers peers = graph->peers(4, 8, 1);
  EXPECT_EQ(Group(peers.send_to.begin(), peers.send_to.end()), (Group{0, 1, 5}));
}

TEST(Butterfly, MixesAllInLgPOverLgSSteps) {
  for (const auto& [size, group, steps] :
       {std::tuple{8, 4, 2}, {64, 8, 2}, {16, 4, 2}, {32, 4, 3}, {16, 2, 4}, {8, 8, 1}}) {
    const auto graph = make_peer_graph({"butterfly", {{"group", group}}});
    for (const double x : impulse(*graph, size, steps)) EXPECT_NEAR(x, 1.0 / size, 1e-9);
  }
}

TEST(Butterfly, ChoosesGroupsOfTheSquareRoot) {
  const std::pair<int, std::size_t> published[] = {{4, 2}, {16, 4}, {64, 8}, {256, 16}, {1024, 32}};
  const auto graph = make_peer_graph({"butterfly"});
  for (const auto& [size, group] : published)
    EXPECT_EQ(graph->peers(0, size, 0).send_to.size(), group - 1);
  EXPECT_EQ(graph->peers(0, 1, 0).send_to.size(), 0u);
  EXPECT_EQ(graph->peers(0, 8, 0).send_to.size(), 3u) << "a group of 4";
}

}  // namespace
}  // namespace trigram::test::each_graph_test
