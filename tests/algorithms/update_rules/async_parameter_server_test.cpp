#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "algorithms/asynchronous/pair_scheduler.h"
#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

// The asynchronous parameter server: its equations, and the quantities that it conserves.

namespace trigram::test::async_parameter_server_test {
namespace {

constexpr double kLr = 0.125;

class AsyncServerRule : public AffineTest {
 protected:
  std::vector<AffineEnd> ends(int ranks, Json options, long steps, double slope) {
    options["name"] = "async_parameter_server";
    return train(training(ranks, options, steps, slope));
  }
};

TEST_P(AsyncServerRule, OneWorkerIsSgd) {
  double x = 1;
  for (int t = 0; t < 3; ++t) x -= kLr * (0.5 * x + 1);
  expect_near(common_weights(ends(1, Json::object(), 3, 0.5)), {x});
  expect_near(common_weights(ends(1, {{"codec", "minmax_uint8"}}, 3, 0.5)), {x});
}

/// If gradients do not depend on the weights, the servers and all workers end with the sum of all
/// changes, in whatever order these arrive.
TEST_P(AsyncServerRule, ServersEndWithTheSumOfAllChanges) {
  constexpr long kSteps = 3;
  for (const int ranks : {2, 4, 8})
    for (const Json& servers : {Json("all"), Json(1), Json(2)}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, servers " << servers);
      const double sum = ranks * (ranks + 1) / 2.0;
      const std::vector<double> expected(static_cast<std::size_t>(ranks), 1 - kLr * kSteps * sum);
      expect_near(common_weights(ends(ranks, {{"servers", servers}}, kSteps, 0)), expected);
      // Changes are constant vectors, whose code has only rounding errors.
      const auto coded =
          common_weights(ends(ranks, {{"servers", servers}, {"codec", "minmax_uint8"}}, kSteps, 0));
      for (const double x : coded) EXPECT_NEAR(x, expected[0], 1e-4 * sum);
    }
}

/// Between two changes of any worker, one change of every other worker arrives.
TEST_P(AsyncServerRule, ChangesOfEqualWorkersAreOneRoundOld) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "needs workers of equal speed";
  for (const int ranks : {1, 2, 4, 8})
    for (const int servers : {1, ranks}) {
      Steps::Staleness all;
      for (const AffineEnd& end : ends(ranks, {{"servers", servers}}, 50, 0.01)) {
        all.updates += end.staleness.updates;
        all.sum += end.staleness.sum;
      }
      EXPECT_EQ(all.updates, 50 * ranks * servers);  // one for every shard
      const double mean = static_cast<double>(all.sum) / static_cast<double>(all.updates);
      EXPECT_NEAR(mean, ranks - 1, 0.05 * ranks) << ranks << " ranks, " << servers << " servers";
    }
}

INSTANTIATE_TEST_SUITE_P(Worlds, AsyncServerRule, every_named_world(), named_world_test_name);

using Pairs = std::vector<std::pair<int, int>>;

TEST(PairMatcher, GrantsARankOneExchangeAtATime) {
  Pairs granted;
  PairMatcher matcher({0, 2}, 4,
                      [&](int requester, int server) { granted.emplace_back(requester, server); });
  matcher.request(1);  // 1 starts with server 2
  EXPECT_EQ(granted, (Pairs{{1, 2}}));
  matcher.request(0);  // not to itself; server 2 is busy
  matcher.request(3);  // server 0 is free and serves 3
  EXPECT_EQ(granted, (Pairs{{1, 2}, {3, 0}}));
  matcher.release(1);  // server 0 is busy
  EXPECT_EQ(granted.size(), 2u);
  matcher.release(2);  // 0 waits longest but is busy, and so is 3
  EXPECT_EQ(granted.size(), 2u);
  matcher.release(0);  // 1 asked server 0 first
  EXPECT_EQ(granted.back(), std::pair(1, 0));
  matcher.release(3);
  EXPECT_EQ(granted.back(), std::pair(3, 2));
  matcher.release(1), matcher.release(0), matcher.release(3), matcher.release(2);
  EXPECT_EQ(granted.back(), std::pair(0, 2));
  EXPECT_EQ(granted.size(), 5u);
}

/// All ranks are servers and requesters. Exchanges end one at a time, in a random order.
TEST(PairMatcher, SkipsNoRequestMoreOftenThanThereAreOtherRequesters) {
  for (const int ranks : {2, 5, 16}) {
    std::vector<int> servers(static_cast<std::size_t>(ranks)), in_exchange;
    std::iota(servers.begin(), servers.end(), 0);
    // For each server, its requests: the requester, and how often the request was skipped.
    std::vector<std::vector<std::pair<int, int>>> waiting(servers.size());
    int most = 0;
    PairMatcher matcher(servers, ranks, [&](int requester, int server) {
      auto& requests = waiting[static_cast<std::size_t>(server)];
      auto w = requests.begin();
      for (; w != requests.end() && w->first != requester; ++w) most = std::max(most, ++w->second);
      ASSERT_NE(w, requests.end()) << requester << " is granted " << server << " without a request";
      requests.erase(w);
      in_exchange.insert(in_exchange.end(), {requester, server});
    });
    std::uint32_t random = 1;
    for (int round = 0; round < 20; ++round) {
      for (int requester = 0; requester < ranks; ++requester) {
        for (const int server : servers)
          if (server != requester)
            waiting[static_cast<std::size_t>(server)].emplace_back(requester, 0);
        matcher.request(requester);
      }
      while (!in_exchange.empty()) {
        random = random * 1664525 + 1013904223;
        const auto leaver = in_exchange.begin() + (random >> 8) % in_exchange.size();
        const int rank = *leaver;
        in_exchange.erase(leaver);
        matcher.release(rank);
      }
      for (const auto& requests : waiting) EXPECT_TRUE(requests.empty()) << "all have been served";
    }
    EXPECT_LE(most, ranks - 2);
    EXPECT_GE(most, std::min(ranks - 2, 2)) << "else the bound is not tried";
  }
}

}  // namespace
}  // namespace trigram::test::async_parameter_server_test
