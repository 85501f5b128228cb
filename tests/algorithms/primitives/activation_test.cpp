#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <numeric>
#include <set>

#include "algorithms/asynchronous/partial_collective.h"
#include "algorithms/peers/butterfly.h"
#include "tests/support/worlds.h"

// The start of collectives that do not wait for late ranks: the messages of an activation and their
// number; and the groups of ranks that average together.

namespace trigram::test::activation_test {
namespace {

/// Sends the messages of `activators`, oldest or newest first, and returns their number. Every rank
/// passes on the first activation that it receives.
int spread(int P, const std::vector<int>& activators, bool newest_first, std::set<int>& reached) {
  struct Sent {
    int source;
    ActivationHop hop;
  };
  std::vector<Sent> in_flight;
  int messages = 0;
  const auto activate = [&](int rank, int source, int round) {
    if (!reached.insert(rank).second) return;
    for (const ActivationHop& hop : activation_hops(rank, P, source, round)) {
      in_flight.push_back({rank, hop});
      ++messages;
    }
  };
  for (const int rank : activators) activate(rank, rank, kOwnActivation);
  while (!in_flight.empty()) {
    const auto next = newest_first ? in_flight.end() - 1 : in_flight.begin();
    const Sent sent = *next;
    in_flight.erase(next);
    activate(sent.hop.dest, sent.source, sent.hop.round);
  }
  return messages;
}

TEST(ActivationHops, OneActivatorReachesAllWithOneMessageEach) {
  for (int P = 1; P <= 40; ++P)
    for (int activator = 0; activator < P; ++activator)
      for (const bool newest_first : {false, true}) {
        std::set<int> reached;
        EXPECT_EQ(spread(P, {activator}, newest_first, reached), P - 1);
        EXPECT_EQ(reached.size(), static_cast<std::size_t>(P));
      }
}

TEST(ActivationHops, SeveralActivatorsReachAll) {
  for (const int P : {2, 3, 8, 13, 16, 24})
    for (int a = 0; a < P; ++a)
      for (int b = 0; b < P; ++b)
        for (const bool newest_first : {false, true}) {
          std::set<int> reached;
          spread(P, {a, b, (a + b) % P}, newest_first, reached);
          EXPECT_EQ(reached.size(), static_cast<std::size_t>(P)) << a << " " << b << " of " << P;
        }
}

/// For a power of two there are lg P rounds.
TEST(ActivationHops, AreTheBinomialTree) {
  EXPECT_EQ(activation_hops(5, 8, 5, kOwnActivation),
            (std::vector<ActivationHop>{{4, 0}, {7, 1}, {1, 2}}));
  EXPECT_EQ(activation_hops(4, 8, 5, 0), (std::vector<ActivationHop>{{6, 1}, {0, 2}}));
  EXPECT_EQ(activation_hops(1, 8, 5, 2), std::vector<ActivationHop>{});
}

TEST(ButterflyGroup, PartitionsTheRanksAndMixesAllInLgPOverLgSSteps) {
  for (const int P : {1, 2, 4, 8, 16, 64})
    for (int S = P == 1 ? 1 : 2; S <= P; S *= 2) {
      int steps = 0;  // ceil(lg P / lg S), by counting
      for (int reach = 1; reach < P; reach *= S) ++steps;
      std::vector<double> x(static_cast<std::size_t>(P));
      std::iota(x.begin(), x.end(), 0.0);
      for (long t = 3; t < 3 + steps; ++t) {  // starting at any step
        std::vector<double> mean(x.size());
        for (int rank = 0; rank < P; ++rank) {
          const auto group = butterfly_group(rank, P, S, t);
          ASSERT_EQ(group.size(), static_cast<std::size_t>(S));
          EXPECT_EQ(std::set<int>(group.begin(), group.end()).count(rank), 1u);
          for (const int member : group) {
            EXPECT_EQ(butterfly_group(member, P, S, t), group);
            mean[static_cast<std::size_t>(rank)] += x[static_cast<std::size_t>(member)] / S;
          }
        }
        x = mean;
      }
      for (const double value : x) EXPECT_DOUBLE_EQ(value, (P - 1) / 2.0) << P << " by " << S;
    }
}

/// Counts the messages that it forwards to another control plane.
class CountingControl final : public Control {
 public:
  CountingControl(Control& inner, std::map<long, int>& sent) : inner_(inner), sent_(sent) {}
  void post(int dest, int tag, std::int64_t a, std::int64_t b) override {
    ++sent_[a];
    inner_.post(dest, tag, a, b);
  }
  std::optional<Message> receive(int tag) override { return inner_.receive(tag); }
  std::optional<Message> poll(int tag) override { return inner_.poll(tag); }

 private:
  Control& inner_;
  std::map<long, int>& sent_;
};

class ActivationTest : public WorldTest {
 protected:
  /// Activates versions 0, 1, ... on the main streams. `arrives` tells which ranks arrive before a
  /// version is activated. Returns the number of messages for each version, over all ranks.
  std::vector<int> messages(long versions,
                            const std::function<bool(int rank, long version)>& arrives) {
    const auto sent = results_in_world(world(), flat_cluster(ranks()), [=](Context ctx) {
      std::map<long, int> count;
      CountingControl counting(*ctx.control, count);
      Context counted = ctx;
      counted.control = &counting;
      Activation activation([](long) { return Activation::kAnyRank; });
      for (long v = 0; v < versions; ++v) {
        if (arrives(ctx.world_rank, v)) Activation::announce(*ctx.control, ctx.world_rank, v);
        EXPECT_TRUE(activation.await(counted, v));
        if (!arrives(ctx.world_rank, v)) Activation::announce(*ctx.control, ctx.world_rank, v);
        ctx.stream->sleep_for(1e-3);
      }
      std::string bytes;
      for (long v = 0; v < versions; ++v) bytes += static_cast<char>(count[v]);
      return bytes;
    });
    std::vector<int> sum(static_cast<std::size_t>(versions));
    for (const std::string& bytes : sent)
      for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += bytes.at(v);
    return sum;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ActivationTest, every_variant(1, 2, 3, 8, 13), world_test_name);

/// The other ranks are late: they send no messages of their own.
TEST_P(ActivationTest, OneActivatorCausesOneMessageForEachOtherRank) {
  const auto sent =
      messages(6, [P = ranks()](int rank, long version) { return rank == version % P; });
  if (simulated()) {
    EXPECT_EQ(sent, std::vector<int>(6, ranks() - 1));
  } else {  // a rank that the next version overtakes passes on only the next version
    for (const int count : sent) EXPECT_LE(count, ranks() - 1);
    EXPECT_EQ(sent.back(), ranks() - 1);
  }
}

TEST_P(ActivationTest, ActivatorsRace) {
  const int P = ranks();
  const auto sent = messages(6, [](int, long) { return true; });
  const int first = simulated() ? 0 : 5;  // in real time, a later version can overtake
  for (int version = 0; version < 6; ++version) {
    EXPECT_LE(sent.at(version), 5 * P);
    if (version >= first) {
      EXPECT_GE(sent.at(version), P - 1);
    }
  }
}

/// A message for version 1 that overtakes the message for version 0 activates both versions.
TEST_P(ActivationTest, ALaterVersionActivatesTheEarlierVersion) {
  run([](Context ctx) {
    Activation activation([](long) { return Activation::kAnyRank; });
    if (ctx.world_rank == 0) Activation::announce(*ctx.control, 0, 1);
    EXPECT_TRUE(activation.await(ctx, 0));
    EXPECT_TRUE(activation.await(ctx, 1));
  });
}

/// Only the initiator starts a version, however early other ranks arrive.
TEST_P(ActivationTest, OnlyTheInitiatorActivates) {
  constexpr std::size_t kVersions = 4;
  std::array<std::atomic<bool>, kVersions> started{};
  run([&started](Context ctx) {
    const int P = ctx.world_size;
    Activation activation([P](long v) { return static_cast<int>(v + 1) % P; });
    for (std::size_t v = 0; v < kVersions; ++v) {
      const auto version = static_cast<long>(v);
      if (ctx.world_rank == (version + 1) % P) {
        ctx.stream->sleep_for(5e-3);
        started[v] = true;
      }
      Activation::announce(*ctx.control, ctx.world_rank, version);
      EXPECT_TRUE(activation.await(ctx, version));
      EXPECT_TRUE(started[v]);
    }
  });
}

/// Agents run every version once and in order, whichever rank arrives first.
TEST_P(ActivationTest, EveryVersionRunsOnce) {
  run([](Context ctx) {
    constexpr long kVersions = 12;
    auto ran = std::make_shared<std::vector<long>>();
    {
      PartialCollective partial(
          ctx, "agent",
          {.versions = kVersions,
           .initiator =
               [](long v) { return v % 4 == 3 ? Activation::kAllRanks : Activation::kAnyRank; },
           .execute = [ran](Context, long v) { ran->push_back(v); }});
      for (long v = 0; v < kVersions; ++v) {
        if ((ctx.world_rank + v) % 3 == 0) ctx.stream->sleep_for(2e-3);
        partial.arrive(ctx, v);
      }
    }
    std::vector<long> expected(kVersions);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(*ran, expected);
  });
}

}  // namespace
}  // namespace trigram::test::activation_test
