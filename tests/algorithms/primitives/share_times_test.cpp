// The time of a scatter-reduce whose shares follow the bandwidths of unequal NICs.

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/primitives/bandwidth_shares.h"
#include "algorithms/primitives/primitives.h"
#include "tests/support/simulate.h"

namespace trigram::test::share_times_test {
namespace {

/// Seconds for the average of a vector of n floats in bf16, with shares by bandwidth or with equal
/// shares. Computation is free.
double seconds(Cluster cluster, std::size_t n, bool by_bandwidth) {
  cluster.accelerator.memory_Bps = 1e18;
  cluster.accelerator.flops_per_s = 1e18;
  return latest_end_s(simulate(cluster, [&](Context ctx) {
    return time_on_phantom(ctx, n, [by_bandwidth](Context c, const Tensor& x) {
      const auto codec = c.device->codec({"bf16"});
      if (!by_bandwidth) return c_lp_s(c, x, *codec, SecondPhase::direct);
      c_lp_s_by_share(c, x, *codec, shares_by_bandwidth(bandwidths_of(c)).shares);
    });
  }));
}

/// The time is at least xi S, where xi is the optimum. The first and the last of the pipelined
/// exchanges have only one phase, which adds up to a sixteenth. Flows that share links fairly end
/// at different times, so some links are idle at the end of every exchange, which adds up to a
/// fifth in these networks. Equal shares take 2 (n - 1)/n S / min b.
TEST(ShareTimes, ApproachTheOptimumOfTheLinearProgram) {
  constexpr std::size_t kNumel = 16'000'000;
  constexpr double kBytes = 2.0 * kNumel;
  double most_gained = 0;
  for (const int nodes : {3, 4, 8})
    for (const double jitter : {0.1, 0.5, 0.9})
      for (const int seed : {1, 2}) {
        SCOPED_TRACE(testing::Message()
                     << nodes << " nodes, jitter " << jitter << ", seed " << seed);
        Cluster cluster = round_cluster(nodes);
        cluster.bandwidth_jitter = jitter;
        cluster.jitter_seed = seed;
        std::vector<double> Bps;
        for (int node = 0; node < nodes; ++node) Bps.push_back(cluster.nic_bandwidth(node));
        const double optimum_s = kBytes * shares_by_bandwidth(Bps).s_per_byte;
        const double equal_s = 2.0 * (nodes - 1) / nodes * kBytes / std::ranges::min(Bps);
        const double by_bandwidth_s = seconds(cluster, kNumel, true);
        EXPECT_NEAR(seconds(cluster, kNumel, false), equal_s, 0.01 * equal_s);
        EXPECT_GT(by_bandwidth_s, 0.999 * optimum_s);
        EXPECT_LT(by_bandwidth_s, 17.0 / 16 * 1.2 * optimum_s);
        EXPECT_LT(by_bandwidth_s, 1.01 * equal_s);
        most_gained = std::max(most_gained, equal_s / by_bandwidth_s);
      }
  EXPECT_GT(most_gained, 1.4);
}

TEST(ShareTimes, AreThoseOfEqualSharesIfNicsAreEqual) {
  const Cluster cluster = round_cluster(8);
  EXPECT_NEAR(seconds(cluster, 16'000'000, true), seconds(cluster, 16'000'000, false), 1e-3);
}

}  // namespace
}  // namespace trigram::test::share_times_test
