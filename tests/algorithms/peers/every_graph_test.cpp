#include <gtest/gtest.h>

#include <set>

#include "algorithms/peers/registry.h"
#include "algorithms/peers/spectral_gap.h"
#include "tests/support/mixing.h"

// Guarantees of every peer graph, tested for many numbers of ranks.

namespace trigram::test::every_graph_test {
namespace {

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

/// Every graph with its default options, and with options that change its behaviour.
std::vector<PeerGraphSpec> every_graph() {
  std::vector<PeerGraphSpec> all;
  for (const auto& entry : peer_graphs()) all.push_back({entry.name, Json::object()});
  all.push_back({"bipartite", {{"hop", "rotating"}}});
  all.push_back({"n_peer_exponential", {{"peers", 1}}});
  all.push_back({"n_peer_exponential", {{"peers", 3}}});
  for (const int peers : {1, 2, 3, 4})
    all.push_back({"n_peer_exponential", {{"peers", peers}, {"hops", "powers"}}});
  all.push_back({"shuffled_exponential", {{"topology", "cube"}}});
  all.push_back({"butterfly", {{"group", 1}}});
  all.push_back({"butterfly", {{"group", 4}}});
  for (const int peers : {2, 3, 4}) all.push_back({"base_k", {{"peers", peers}}});
  return all;
}

constexpr int kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31, 32};

/// Calls `check(graph, size, step)` for every graph that can have this number of ranks.
template <class Check>
void for_every_graph(Check check) {
  for (const PeerGraphSpec& spec : every_graph())
    for (const int size : kSizes) {
      const auto graph = make_peer_graph(spec, 5);
      if (!graph->size_error(size).empty()) continue;
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
                                             "n_peer_exponential", "shuffled_exponential"}));
}

TEST(EveryPeerGraph, RepeatsAfterItsPeriodAndNotBefore) {
  for (const PeerGraphSpec& spec : every_graph())
    for (const int size : kSizes) {
      const auto graph = make_peer_graph(spec, 5);
      if (!graph->size_error(size).empty()) continue;
      SCOPED_TRACE(testing::Message() << spec.name << spec.options << " of " << size);
      const long period = graph->period(size);
      if (period == PeerGraph::kAperiodic) {
        std::set<Matrix> seen;
        for (long t = 0; t < 50; ++t) seen.insert(assemble(*graph, size, t));
        EXPECT_GT(seen.size(), 1u);
        continue;
      }
      for (long t = 0; t < 2 * period; ++t)
        EXPECT_EQ(assemble(*graph, size, t), assemble(*graph, size, t + period));
      for (long shorter = 1; shorter < period; ++shorter) {
        bool differs = false;
        for (long t = 0; t < period && !differs; ++t)
          differs = assemble(*graph, size, t) != assemble(*graph, size, t + shorter);
        EXPECT_TRUE(differs) << "repeats after " << shorter << " already";
      }
    }
}

TEST(EveryPeerGraph, ListsThePartnersOfAllSteps) {
  for (const PeerGraphSpec& spec : every_graph())
    for (const int size : {1, 2, 3, 4, 5, 8, 9}) {
      const auto graph = make_peer_graph(spec, 5);
      if (!graph->size_error(size).empty()) continue;
      SCOPED_TRACE(testing::Message() << spec.name << spec.options << " of " << size);
      for (int rank = 0; rank < size; ++rank) {
        std::set<int> peers;
        for (long t = 0; t < 300; ++t)
          for (const int peer : graph->peers(rank, size, t).send_to) peers.insert(peer);
        const std::vector<int> partners = graph->partners(rank, size);
        EXPECT_EQ(partners, std::vector<int>(peers.begin(), peers.end())) << "rank " << rank;
      }
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

}  // namespace
}  // namespace trigram::test::every_graph_test
