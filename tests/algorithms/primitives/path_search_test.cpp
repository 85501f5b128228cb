#include "algorithms/asynchronous/group_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "algorithms/peers/registry.h"

// The iterations that the search for connecting edges ends, and the ranks in them.

namespace trigram::test::path_search_test {
namespace {

using Ranks = std::vector<int>;

PathSearch search(const char* graph, int ranks) {
  return PathSearch(*make_peer_graph({graph}), ranks);
}

TEST(PathSearch, AnIterationEndsWithAnEdgeThatConnects) {
  PathSearch star = search("star", 4);  // rank 0 is in the middle
  EXPECT_EQ(star.finish(1), Ranks{});
  EXPECT_EQ(star.finish(2), Ranks{}) << "no edge between leaves";
  EXPECT_EQ(star.finish(0), (Ranks{0, 1, 2})) << "all that have finished";
  EXPECT_EQ(star.finish(0), Ranks{});
  EXPECT_EQ(star.finish(1), Ranks{}) << "accepted before";
  EXPECT_EQ(star.finish(3), (Ranks{0, 1, 3})) << "the search begins anew";
  EXPECT_EQ(star.finish(1), Ranks{});
  EXPECT_EQ(star.finish(0), (Ranks{0, 1}));
}

/// Two pairs, each already connected, are joined by an edge whose two ends both have other edges.
TEST(PathSearch, JoinsConnectedPairs) {
  PathSearch ring = search("ring", 4);
  EXPECT_EQ(ring.finish(0), Ranks{});
  EXPECT_EQ(ring.finish(1), (Ranks{0, 1}));
  EXPECT_EQ(ring.finish(2), Ranks{});
  EXPECT_EQ(ring.finish(3), (Ranks{2, 3}));
  EXPECT_EQ(ring.finish(0), Ranks{});
  EXPECT_EQ(ring.finish(1), Ranks{}) << "accepted before";
  EXPECT_EQ(ring.finish(2), (Ranks{0, 1, 2}));
  EXPECT_EQ(ring.finish(2), Ranks{});
  EXPECT_EQ(ring.finish(3), (Ranks{2, 3})) << "of a new search";
}

TEST(PathSearch, ARankIsInAllIterationsAfterItsLastStep) {
  PathSearch pair = search("ring", 2);
  EXPECT_EQ(pair.finish_last(1), Ranks{});
  for (int step = 0; step < 3; ++step) EXPECT_EQ(pair.finish(0), (Ranks{0, 1}));
  EXPECT_EQ(pair.finish_last(0), (Ranks{0, 1}));
}

TEST(PathSearch, OneRankAloneNeverWaits) {
  PathSearch alone = search("ring", 1);
  EXPECT_EQ(alone.finish(0), Ranks{0});
  EXPECT_EQ(alone.finish_last(0), Ranks{0});
}

/// The ranks that are connected by edges between members of the same iteration, one iteration after
/// the other.
class Connected {
 public:
  explicit Connected(int ranks) : reached_(static_cast<std::size_t>(ranks)) { clear(); }
  void clear() {
    for (std::size_t r = 0; r < reached_.size(); ++r) reached_[r] = {static_cast<int>(r)};
  }
  bool all() const { return reached_[0].size() == reached_.size(); }
  /// Returns true if this connects ranks that were not connected.
  bool add(const Ranks& members, const PathSearch& graph) {
    bool anew = false;
    for (const int a : members)
      for (const int b : graph.neighbours(a)) {
        if (!std::binary_search(members.begin(), members.end(), b) || reached_from(a).contains(b))
          continue;
        anew = true;
        std::set<int> both = reached_from(a);
        both.insert(reached_from(b).begin(), reached_from(b).end());
        for (const int rank : both) reached_from(rank) = both;
      }
    return anew;
  }

 private:
  std::set<int>& reached_from(int rank) { return reached_[static_cast<std::size_t>(rank)]; }
  std::vector<std::set<int>> reached_;  // by rank
};

/// Workers of random speeds on every fixed graph. No rank waits forever, each iteration connects
/// ranks, and within P-1 iterations all ranks are connected, again and again.
TEST(PathSearch, ConnectsAllWithinFewerIterationsThanRanks) {
  constexpr int kSteps = 40;
  for (const char* graph : {"ring", "torus", "grid", "complete", "star"})
    for (const int ranks : {2, 3, 5, 8, 12})
      for (unsigned seed = 0; seed < 5; ++seed) {
        SCOPED_TRACE(testing::Message() << graph << " of " << ranks << ", seed " << seed);
        PathSearch path = search(graph, ranks);
        std::mt19937 random(seed);
        Ranks computing(static_cast<std::size_t>(ranks)), left(computing.size(), kSteps);
        std::iota(computing.begin(), computing.end(), 0);
        Connected window(ranks);
        int windows = 0, iterations = 0, last_steps = 0;
        while (last_steps < ranks) {
          ASSERT_FALSE(computing.empty()) << "all wait for each other";
          const auto next = computing.begin() + static_cast<int>(random() % computing.size());
          const int rank = *next;
          computing.erase(next);
          int& steps = left[static_cast<std::size_t>(rank)];
          --steps;
          if (steps == 0) ++last_steps;
          const Ranks members = steps == 0 ? path.finish_last(rank) : path.finish(rank);
          if (members.empty()) continue;
          ASSERT_TRUE(std::is_sorted(members.begin(), members.end()));
          EXPECT_TRUE(window.add(members, path));
          EXPECT_LT(++iterations, ranks);
          for (const int member : members)
            if (left[static_cast<std::size_t>(member)] > 0) computing.push_back(member);
          if (!window.all()) continue;
          window.clear();
          iterations = 0;
          ++windows;
        }
        EXPECT_GT(windows, kSteps / ranks);
      }
}

}  // namespace
}  // namespace trigram::test::path_search_test
