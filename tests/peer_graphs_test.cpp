#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <set>

#include "algorithms/peers/butterfly_group.h"
#include "algorithms/peers/registry.h"
#include "algorithms/peers/spectral_gap.h"

// The peer graphs: what every graph promises, at many sizes, and what each one is.

namespace trigram::test {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Row i: what rank i makes of all ranks' weights, assembled from the lists of all ranks.
Matrix assemble(const PeerGraph& graph, int size, long step) {
  Matrix w(static_cast<std::size_t>(size), std::vector<double>(static_cast<std::size_t>(size), 0));
  for (int r = 0; r < size; ++r) {
    const Peers peers = graph.peers(r, size, step);
    auto& row = w[static_cast<std::size_t>(r)];
    row[static_cast<std::size_t>(r)] = peers.self_weight;
    for (const auto& source : peers.receive_from)
      row[static_cast<std::size_t>(source.rank)] += source.weight;
  }
  return w;
}

Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.size();
  Matrix c(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

double row_sum(const Matrix& w, std::size_t i) {
  double sum = 0;
  for (const double x : w[i]) sum += x;
  return sum;
}

double column_sum(const Matrix& w, std::size_t j) {
  double sum = 0;
  for (const auto& row : w) sum += row[j];
  return sum;
}

/// Every graph at its defaults, and with the options that change what it does.
std::vector<PeerGraphSpec> every_graph() {
  std::vector<PeerGraphSpec> all;
  for (const auto& entry : peer_graphs()) all.push_back({entry.name, Json::object()});
  all.push_back({"bipartite", {{"hop", "rotating"}}});
  all.push_back({"n_peer_exponential", {{"peers", 1}}});
  all.push_back({"n_peer_exponential", {{"peers", 3}}});
  all.push_back({"butterfly", {{"group", 1}}});
  all.push_back({"butterfly", {{"group", 4}}});
  return all;
}

constexpr int kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31, 32};

/// Calls `check(graph, size, step)` for every graph that serves the size.
template <class Check>
void for_every_graph(Check check) {
  for (const PeerGraphSpec& spec : every_graph())
    for (const int size : kSizes) {
      const auto graph = make_peer_graph(spec, 5);
      if (!graph->unfit(size).empty()) continue;
      for (const long step : {0, 1, 2, 3, 4, 7, 100}) {
        SCOPED_TRACE(testing::Message()
                     << spec.name << spec.options << " of " << size << " at step " << step);
        check(*graph, size, step);
      }
    }
}

TEST(EveryPeerGraph, HasListsThatAgreeBetweenRanks) {
  for_every_graph([](const PeerGraph& graph, int size, long step) {
    std::set<std::pair<int, int>> sends, receives;
    for (int r = 0; r < size; ++r) {
      const Peers peers = graph.peers(r, size, step);
      for (const int to : peers.send_to) {
        ASSERT_TRUE(to >= 0 && to < size && to != r);
        EXPECT_TRUE(sends.insert({r, to}).second) << "twice to " << to;
      }
      for (const auto& from : peers.receive_from) {
        ASSERT_TRUE(from.rank >= 0 && from.rank < size && from.rank != r);
        EXPECT_TRUE(receives.insert({from.rank, r}).second) << "twice from " << from.rank;
        EXPECT_GT(from.weight, 0);
      }
      EXPECT_GT(peers.self_weight, 0) << "rank " << r;
    }
    EXPECT_EQ(sends, receives);
  });
}

TEST(EveryPeerGraph, IsDoublyStochastic) {
  for_every_graph([](const PeerGraph& graph, int size, long step) {
    const Matrix w = assemble(graph, size, step);
    for (std::size_t i = 0; i < w.size(); ++i) {
      EXPECT_NEAR(row_sum(w, i), 1, 1e-6);
      EXPECT_NEAR(column_sum(w, i), 1, 1e-6);
    }
  });
}

TEST(EveryPeerGraph, IsSymmetricUnlessDirected) {
  std::set<std::string> directed;
  for_every_graph([](const PeerGraph& graph, int size, long step) {
    if (graph.directed()) return;
    const Matrix w = assemble(graph, size, step);
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(w[i][j], w[j][i]);
  });
  for (const auto& entry : peer_graphs())
    if (make_peer_graph({entry.name})->directed()) directed.insert(entry.name);
  EXPECT_EQ(directed, (std::set<std::string>{"static_exponential", "one_peer_exponential",
                                             "n_peer_exponential"}));
}

TEST(EveryPeerGraph, RepeatsAfterItsPeriodAndNotBefore) {
  for (const PeerGraphSpec& spec : every_graph())
    for (const int size : kSizes) {
      const auto graph = make_peer_graph(spec, 5);
      if (!graph->unfit(size).empty()) continue;
      SCOPED_TRACE(testing::Message() << spec.name << spec.options << " of " << size);
      const long period = graph->period(size);
      if (period == PeerGraph::kNever) {
        std::set<Matrix> seen;
        for (long t = 0; t < 50; ++t) seen.insert(assemble(*graph, size, t));
        EXPECT_GT(seen.size(), 1u);
        continue;
      }
      for (long t = 0; t < 2 * period; ++t)
        EXPECT_EQ(assemble(*graph, size, t), assemble(*graph, size, t + period));
      std::set<Matrix> seen;
      for (long t = 0; t < period; ++t) seen.insert(assemble(*graph, size, t));
      EXPECT_EQ(static_cast<long>(seen.size()), period) << "steps of a period differ";
    }
}

TEST(EveryPeerGraph, GivesTheSpectralGapItsOwnMatrix) {
  for_every_graph([](const PeerGraph& graph, int size, long step) {
    const Matrix w = assemble(graph, size, step);
    const std::vector<double> flat = mixing_matrix(graph, size, step);
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t j = 0; j < w.size(); ++j) EXPECT_EQ(flat[i * w.size() + j], w[i][j]);
  });
}

/// Weights of all ranks after `steps` of mixing alone, from rank 0's unit vector.
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
  // A hop all the way round counts for the own weight: P = 6, hops 3 and 6.
  const Peers round = graph->peers(1, 6, 1);
  EXPECT_EQ(round.send_to, std::vector<int>{4});
  EXPECT_NEAR(round.self_weight, 2.0 / 3, 1e-6);
}

TEST(NPeerExponential, OfOnePeerIsOnePeerExponential) {
  const auto n = make_peer_graph({"n_peer_exponential", {{"peers", 1}}});
  const auto one = make_peer_graph({"one_peer_exponential"});
  for (const int size : kSizes)
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
  // 2 x 3: both neighbours of a column are one rank.
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
  EXPECT_GT(matchings.size(), 20u);  // of the 105 there are
  const auto other_seed = make_peer_graph({"random_matching"}, 4);
  int same = 0;
  for (long t = 0; t < 40; ++t)
    same += other_seed->peers(0, 8, t).send_to == graph->peers(0, 8, t).send_to;
  EXPECT_LT(same, 20);
}

TEST(RandomMatching, LeavesOneOfAnOddNumberIdle) {
  const auto graph = make_peer_graph({"random_matching"}, 3);
  std::set<int> idle;
  for (long t = 0; t < 100; ++t) {
    int alone = 0;
    for (int r = 0; r < 7; ++r)
      if (graph->peers(r, 7, t).send_to.empty()) {
        ++alone;
        idle.insert(r);
      }
    EXPECT_EQ(alone, 1);
  }
  EXPECT_EQ(idle.size(), 7u);
}

TEST(Bipartite, MatchesEvenWithOddRanks) {
  for (const char* hop : {"rotating", "random"}) {
    const auto graph = make_peer_graph({"bipartite", {{"hop", hop}}}, 9);
    std::set<int> met;
    for (long t = 0; t < 60; ++t)
      for (int r = 0; r < 10; ++r) {
        const Peers peers = graph->peers(r, 10, t);
        ASSERT_EQ(peers.send_to.size(), 1u);
        EXPECT_NE(peers.send_to[0] % 2, r % 2);
        if (r == 4) met.insert(peers.send_to[0]);
      }
    EXPECT_EQ(met, (std::set<int>{1, 3, 5, 7, 9}));
  }
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
  const auto graph = make_peer_graph({"butterfly", {{"group", 4}}});
  const Peers peers = graph->peers(4, 8, 1);
  EXPECT_EQ(Group(peers.send_to.begin(), peers.send_to.end()), (Group{0, 1, 5}));
}

TEST(Butterfly, MixesAllInAsFewStepsAsItCan) {
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

// Closed forms of the second largest modulus of an eigenvalue.

double cosine(int k, int size) { return std::cos(2 * std::numbers::pi * k / size); }

template <class Eigenvalue>
double gap_of(int size, Eigenvalue eigenvalue) {
  double second = 0;
  for (int k = 1; k < size; ++k) second = std::max(second, std::abs(eigenvalue(k)));
  return 1 - second;
}

double gap(const PeerGraphSpec& spec, int size) {
  return spectral_gap(*make_peer_graph(spec, 2), size);
}

TEST(SpectralGap, OfCirculantGraphsIsThatOfTheirFourierModes) {
  for (const int size : {3, 4, 5, 8, 16, 32}) {
    EXPECT_NEAR(gap({"ring"}, size),
                gap_of(size, [&](int k) { return (1 + 2 * cosine(k, size)) / 3; }), 1e-6);
    EXPECT_NEAR(gap({"complete"}, size), 1, 1e-3);
    // |1 + sum over hops of e^(2 pi i k h / P)| / (hops + 1)
    EXPECT_NEAR(gap({"static_exponential"}, size),
                gap_of(size,
                       [&](int k) {
                         double re = 1, im = 0;
                         int n = 1;
                         for (int h = 1; h < size; h *= 2, ++n) {
                           const double phase = 2 * std::numbers::pi * k * h / size;
                           re += std::cos(phase);
                           im += std::sin(phase);
                         }
                         return std::hypot(re, im) / n;
                       }),
                1e-6);
  }
}

TEST(SpectralGap, OfTheTorusIsThatOfItsTwoRings) {
  // 4 x 4: (1 + 2 cos(2 pi a / 4) + 2 cos(2 pi b / 4)) / 5
  double second = 0;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      if (a + b > 0)
        second = std::max(second, std::abs(1 + 2 * cosine(a, 4) + 2 * cosine(b, 4)) / 5);
  EXPECT_NEAR(gap({"torus"}, 16), 1 - second, 1e-6);
}

TEST(SpectralGap, OfTheStarIsOneOverP) {
  for (const int size : {3, 8, 16}) EXPECT_NEAR(gap({"star"}, size), 1.0 / size, 1e-6);
}

TEST(SpectralGap, IsOneWhereAPeriodAveragesExactly) {
  EXPECT_NEAR(gap({"one_peer_exponential"}, 16), 1, 1e-6);
  EXPECT_NEAR(gap({"butterfly"}, 16), 1, 1e-6);
  EXPECT_NEAR(gap({"ring"}, 2), 1, 1e-6);
  EXPECT_NEAR(gap({"ring"}, 3), 1, 1e-3);  // float weights; the root magnifies their error
}

TEST(SpectralGap, OfARandomMatchingIsThatOfItsMean) {
  // W is a projection, so the mean of W^T W is that of W: 1/2 I + 1/2 (J - I)/(P - 1).
  const double second = 0.5 - 0.5 / 15;
  EXPECT_NEAR(gap({"random_matching"}, 16), 1 - std::sqrt(second), 0.02);
}

TEST(SpectralGap, IsZeroWithoutExchange) {
  EXPECT_NEAR(gap({"butterfly", {{"group", 1}}}, 8), 0, 1e-9);
}

// What a configuration may ask for.

std::string error_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(PeerGraphOptions, RefuseSizesThatTheGraphCannotServe) {
  const auto refuse = [](const PeerGraphSpec& spec, int size) {
    return error_of([&] {
      require_graph(spec, {}, "dpsgd", {size, "workers"}, "/algorithm/graph");
    });
  };
  EXPECT_EQ(refuse({"shift_one"}, 5),
            "/algorithm/graph: shift_one cannot serve 5 workers: it pairs them, so their number "
            "must be even");
  EXPECT_NE(refuse({"bipartite"}, 7), "no error");
  EXPECT_NE(refuse({"butterfly"}, 6), "no error");
  EXPECT_NE(refuse({"butterfly", {{"group", 8}}}, 4), "no error");
  for (const char* graph : {"ring", "torus", "grid", "complete", "star", "static_exponential",
                            "one_peer_exponential", "random_matching"})
    for (int size = 1; size < 12; ++size) EXPECT_EQ(refuse({graph}, size), "no error");
}

TEST(PeerGraphOptions, RefuseWhatTheAlgorithmCannotUse) {
  const auto refuse = [](const PeerGraphSpec& spec, GraphNeeds needs) {
    return error_of([&] { require_graph(spec, needs, "dpsgd", {8, "workers"}, "/graph"); });
  };
  EXPECT_EQ(refuse({"static_exponential"}, {.undirected = true}),
            "/graph: static_exponential is directed, and dpsgd needs a symmetric mixing matrix; "
            "choose an undirected graph, or sgp");
  EXPECT_NE(refuse({"random_matching"}, {.fixed = true}), "no error");
  EXPECT_EQ(refuse({"ring"}, {.undirected = true, .fixed = true}), "no error");
}

TEST(PeerGraphOptions, AreParsedStrictly) {
  const auto parse = [](const Json& j) {
    return error_of([&] { peer_graph_kind().parse(j, "/graph"); });
  };
  EXPECT_EQ(parse("torus"), "no error");
  EXPECT_EQ(parse({{"name", "butterfly"}, {"group", 4}}), "no error");
  EXPECT_NE(parse({{"name", "butterfly"}, {"group", 6}}).find("/graph/group: expected a power"),
            std::string::npos);
  EXPECT_NE(parse("rinng").find("ring"), std::string::npos) << "the nearest name";
  EXPECT_NE(parse({{"name", "ring"}, {"group", 4}}), "no error");
  EXPECT_NE(parse({{"name", "n_peer_exponential"}, {"peers", 0}}), "no error");
  EXPECT_EQ(peer_graph_kind().dump({"ring"}), "ring");
  EXPECT_EQ(peer_graph_kind().dump({"butterfly", {{"group", 4}}}),
            (Json{{"name", "butterfly"}, {"group", 4}}));
}

}  // namespace
}  // namespace trigram::test
