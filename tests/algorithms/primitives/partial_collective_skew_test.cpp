#include <gtest/gtest.h>

#include <atomic>

#include "algorithms/asynchronous/background_average.h"
#include "algorithms/asynchronous/partial_collective.h"
#include "algorithms/collectives/collectives.h"
#include "core/random/philox.h"
#include "tests/support/in_child.h"
#include "tests/support/simulate.h"

// The micro-benchmark of eager-SGD (arXiv 1908.04207): 32 ranks arrive 1, 2, ... 32 ms after a
// common start. How many have arrived when a partial collective runs, and how long do ranks wait?

namespace trigram::test::partial_collective_skew_test {
namespace {

constexpr int kRanks = 32;
constexpr long kRounds = 2000;

struct Outcome {
  double active, wait_s;  // means: ranks in time per round; seconds of waiting per rank and round
};

/// Latencies are tiny compared with the skew: all messages of a round together take about 5 us.
Cluster quick_cluster() {
  Cluster cluster = round_cluster(kRanks);
  cluster.inter = {100e9, 0.2e-6};
  return cluster;
}

/// A rank is in time if its agent finds that it has arrived.
Outcome benchmark(const Activation::Initiator& initiator) {
  auto in_time = std::make_shared<std::atomic<long>>(0);
  const auto results = values_from_child<double>([&] {
    std::vector<double> waits(kRanks + 1);
    make_sim_runtime({}, quick_cluster())->launch(quick_cluster().layout(), [&](Context ctx) {
      auto arrived = std::make_shared<long>(-1);
      const Tensor x = ctx.device->empty(1);
      ctx.device->fill(x, 1);
      PartialCollective partial(
          ctx, "agent",
          {.versions = kRounds, .initiator = initiator, .execute = [=](Context c, long version) {
             if (*arrived == version) ++*in_time;
             recursive_doubling_allreduce(c, x, Reduce::max);
           }});
      for (long round = 0; round < kRounds; ++round) {
        agree(ctx, true);
        ctx.stream->sleep_for(1e-3 * (ctx.world_rank + 1));
        const double before_s = ctx.stream->now();
        *arrived = round;
        partial.arrive(ctx, round);
        waits[static_cast<std::size_t>(ctx.world_rank)] += ctx.stream->now() - before_s;
      }
    });
    waits[kRanks] = static_cast<double>(in_time->load());
    return waits;
  });
  Outcome outcome{};
  if (results.size() != kRanks + 1) return outcome;
  for (int r = 0; r < kRanks; ++r)
    outcome.wait_s += results[static_cast<std::size_t>(r)] / (kRanks * kRounds);
  outcome.active = results[kRanks] / kRounds;
  return outcome;
}

TEST(Skew, ASoloCollectiveRunsWithTheFirstRankAlone) {
  const Outcome solo = benchmark([](long) { return Activation::kAnyRank; });
  EXPECT_DOUBLE_EQ(solo.active, 1);
  EXPECT_LT(solo.wait_s, 1e-5);  // the first rank waits for its own messages
}

/// The initiator is drawn uniformly. On average (P+1)/2 ranks are in time, and the wait is
/// (P^2-1)/(6P) ms. Over 2,000 rounds the standard errors are 1.25 and 2.0 per cent.
TEST(Skew, AMajorityCollectiveRunsWithHalfOfTheRanks) {
  const Outcome majority = benchmark([](long round) {
    return static_cast<int>(Philox(7, 0, round, Purpose::peers).below(kRanks));
  });
  EXPECT_NEAR(majority.active, (kRanks + 1) / 2.0, 0.03 * (kRanks + 1) / 2.0);
  EXPECT_NEAR(majority.wait_s, 5.33e-3, 0.05 * 5.33e-3);
}

/// Every rank waits for the last rank, (P-1)/2 ms on average.
TEST(Skew, ASynchronousCollectiveWaitsForTheLast) {
  const Outcome synchronous = benchmark([](long) { return Activation::kAllRanks; });
  EXPECT_DOUBLE_EQ(synchronous.active, kRanks);
  EXPECT_NEAR(synchronous.wait_s, 15.5e-3, 0.001 * 15.5e-3);
}

}  // namespace
}  // namespace trigram::test::partial_collective_skew_test
