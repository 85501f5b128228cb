#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "algorithms/primitives/pair_scheduler.h"
#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

// The asynchronous parameter server, against its equations and what it conserves.

namespace trigram::test {
namespace {

constexpr double kLr = 0.125;

class AsyncServerRule : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string reason = world_unavailable(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  std::vector<AffineEnd> ends(int ranks, Json options, long steps, double slope) {
    options["name"] = "async_parameter_server";
    return train({.world = GetParam(),
                  .cluster = flat_cluster(ranks),
                  .algorithm = options,
                  .steps = steps,
                  .slope = slope,
                  .lr = kLr});
  }
};

TEST_P(AsyncServerRule, OneWorkerIsSgd) {
  double x = 1;
  for (int t = 0; t < 3; ++t) x -= kLr * (0.5 * x + 1);
  expect_near(common_weights(ends(1, Json::object(), 3, 0.5)), {x});
  expect_near(common_weights(ends(1, {{"codec", "minmax_uint8"}}, 3, 0.5)), {x});
}

/// With gradients that do not depend on the weights, the servers end with the sum of all changes,
/// in whatever order they came, and so do all workers.
TEST_P(AsyncServerRule, ServersEndWithTheSumOfAllChanges) {
  constexpr long kSteps = 3;
  for (const int ranks : {2, 4, 8})
    for (const Json& servers : {Json("all"), Json(1), Json(2)}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, servers " << servers);
      const double sum = ranks * (ranks + 1) / 2.0;
      const std::vector<double> expected(static_cast<std::size_t>(ranks), 1 - kLr * kSteps * sum);
      expect_near(common_weights(ends(ranks, {{"servers", servers}}, kSteps, 0)), expected);
      // Changes are constant vectors, whose code errs by rounding alone.
      const auto coded =
          common_weights(ends(ranks, {{"servers", servers}, {"codec", "minmax_uint8"}}, kSteps, 0));
      for (const double x : coded) EXPECT_NEAR(x, expected[0], 1e-4 * sum);
    }
}

/// Every worker's change comes once between two of any other.
TEST_P(AsyncServerRule, ChangesOfEqualWorkersAreOneRoundOld) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "needs workers of equal speed";
  for (const int ranks : {1, 2, 4, 8})
    for (const int servers : {1, ranks}) {
      Steps::Staleness all;
      for (const AffineEnd& end : ends(ranks, {{"servers", servers}}, 50, 0.01)) {
        all.updates += end.staleness.updates;
        all.sum += end.staleness.sum;
      }
      EXPECT_EQ(all.updates, 50 * ranks * servers);  // of every shard
      const double mean = static_cast<double>(all.sum) / static_cast<double>(all.updates);
      EXPECT_NEAR(mean, ranks - 1, 0.05 * ranks) << ranks << " ranks, " << servers << " servers";
    }
}

INSTANTIATE_TEST_SUITE_P(Worlds, AsyncServerRule, ::testing::ValuesIn(world_names()),
                         [](const auto& world) { return world.param; });

using Pairs = std::vector<std::pair<int, int>>;

TEST(MeetingBook, LetsARankIntoOneMeetingAtATime) {
  Pairs granted;
  MeetingBook book({0, 2}, 4, [&](int guest, int host) { granted.emplace_back(guest, host); });
  book.ask(1);  // the next host is 2
  EXPECT_EQ(granted, (Pairs{{1, 2}}));
  book.ask(0);  // not to itself; 2 is busy
  book.ask(3);  // 0 is free
  EXPECT_EQ(granted, (Pairs{{1, 2}, {3, 0}}));
  book.leave(1);  // 0 is busy
  EXPECT_EQ(granted.size(), 2u);
  book.leave(2);  // 0 waits longest but is busy, and so is 3
  EXPECT_EQ(granted.size(), 2u);
  book.leave(0);  // was asked by 1 first
  EXPECT_EQ(granted.back(), std::pair(1, 0));
  book.leave(3);
  EXPECT_EQ(granted.back(), std::pair(3, 2));
  book.leave(1), book.leave(0), book.leave(3), book.leave(2);
  EXPECT_EQ(granted.back(), std::pair(0, 2));
  EXPECT_EQ(granted.size(), 5u);
}

/// All are hosts and guests. Whoever is in a meeting leaves it at some time, one at a time, as a
/// generator of numbers has it.
TEST(MeetingBook, PassesNobodyOverMoreOftenThanThereAreOtherGuests) {
  for (const int ranks : {2, 5, 16}) {
    std::vector<int> hosts(static_cast<std::size_t>(ranks)), in_meeting;
    std::iota(hosts.begin(), hosts.end(), 0);
    std::vector<std::vector<std::pair<int, int>>> waiting(hosts.size());  // guest, passed over
    int most = 0;
    MeetingBook book(hosts, ranks, [&](int guest, int host) {
      auto& guests = waiting[static_cast<std::size_t>(host)];
      auto w = guests.begin();
      for (; w != guests.end() && w->first != guest; ++w) most = std::max(most, ++w->second);
      ASSERT_NE(w, guests.end()) << guest << " meets " << host << " unasked";
      guests.erase(w);
      in_meeting.insert(in_meeting.end(), {guest, host});
    });
    std::uint32_t random = 1;
    for (int round = 0; round < 20; ++round) {
      for (int guest = 0; guest < ranks; ++guest) {
        for (const int host : hosts)
          if (host != guest) waiting[static_cast<std::size_t>(host)].emplace_back(guest, 0);
        book.ask(guest);
      }
      while (!in_meeting.empty()) {
        random = random * 1664525 + 1013904223;
        const auto leaver = in_meeting.begin() + (random >> 8) % in_meeting.size();
        const int rank = *leaver;
        in_meeting.erase(leaver);
        book.leave(rank);
      }
      for (const auto& guests : waiting) EXPECT_TRUE(guests.empty()) << "all have met";
    }
    EXPECT_LE(most, ranks - 2);
    EXPECT_GE(most, std::min(ranks - 2, 2)) << "else the bound is not tried";
  }
}

}  // namespace
}  // namespace trigram::test
