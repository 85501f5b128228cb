// Shares of a scatter-reduce by bandwidth: the shares, and averages with them.

#include "algorithms/primitives/bandwidth_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "algorithms/execution/averages.h"
#include "algorithms/primitives/primitives.h"
#include "core/check.h"
#include "tests/support/worlds.h"

namespace trigram::test::bandwidth_shares_test {
namespace {

struct Case {
  std::vector<double> bandwidths;
  double s_per_byte;
  std::vector<double> shares;  // empty: not known
};

std::vector<double> list(std::initializer_list<std::pair<int, double>> runs) {
  std::vector<double> all;
  for (const auto& [count, value] : runs)
    all.insert(all.end(), static_cast<std::size_t>(count), value);
  return all;
}

/// Solutions of the linear program
///   minimise xi  subject to  (1 + (n - 2) w_i) / b_i <= xi,  sum of w_i = 1,  0 <= w_i <= 1
/// by the simplex method (scipy.optimize.linprog, as in hivemind's load_balancing.py).
const Case kSolved[] = {{list({{4, 1}}), 1.5, list({{4, 0.25}})},
                        {list({{3, 1}, {1, 0.25}}), 4, {}},
                        {list({{3, 1}, {1, 0}}), 5.0 / 3, {1.0 / 3, 1.0 / 3, 1.0 / 3, 0}},
                        {list({{1, 4}, {5, 1}}), 10.0 / 9, list({{1, 31.0 / 36}, {5, 1.0 / 36}})},
                        {list({{4, 1}, {4, 0.5}}), 7.0 / 3, list({{4, 2.0 / 9}, {4, 1.0 / 36}})},
                        {list({{2, 10}, {6, 1}}), 1, {}},
                        {list({{16, 1}, {16, 0.2}}), 5, {}}};

TEST(BandwidthShares, AreThoseOfTheLinearProgram) {
  for (const Case& c : kSolved) {
    SCOPED_TRACE(testing::PrintToString(c.bandwidths));
    const BandwidthShares result = shares_by_bandwidth(c.bandwidths);
    EXPECT_NEAR(result.s_per_byte, c.s_per_byte, 1e-12 * c.s_per_byte);
    ASSERT_EQ(result.shares.size(), c.bandwidths.size());
    for (std::size_t i = 0; i < c.shares.size(); ++i)
      EXPECT_NEAR(result.shares[i], c.shares[i], 1e-12);
    const auto n = static_cast<double>(c.bandwidths.size());
    EXPECT_NEAR(std::accumulate(result.shares.begin(), result.shares.end(), 0.0), 1, 1e-12);
    for (std::size_t i = 0; i < c.bandwidths.size(); ++i) {
      EXPECT_GE(result.shares[i], 0);
      if (c.bandwidths[i] == 0) EXPECT_EQ(result.shares[i], 0);
      else
        EXPECT_LE((1 + (n - 2) * result.shares[i]) / c.bandwidths[i],
                  result.s_per_byte * (1 + 1e-12));
    }
  }
  EXPECT_EQ(shares_by_bandwidth(kSolved[1].bandwidths).shares[3], 0)
      << "the slow rank owns nothing";
}

TEST(BandwidthShares, DoNotMatterWithTwoRanks) {
  const BandwidthShares result = shares_by_bandwidth(std::vector<double>{5, 0.5});
  EXPECT_EQ(result.s_per_byte, 2);
  EXPECT_EQ(result.shares, std::vector<double>({0.5, 0.5}));
  EXPECT_EQ(shares_by_bandwidth(std::vector<double>{3, 0}).shares, std::vector<double>({1, 0}));
  EXPECT_EQ(shares_by_bandwidth(std::vector<double>{3}).shares, std::vector<double>({1}));
  EXPECT_THROW(shares_by_bandwidth(std::vector<double>{0, 0, 0}), InvariantError);
}

/// No shares on a fine grid are faster.
TEST(BandwidthShares, AreTheFastestOfThreeRanks) {
  for (const std::vector<double>& b :
       {std::vector<double>{1, 2, 3}, {1, 1, 9}, {0.3, 0.8, 0.9}, {7, 7, 1}}) {
    constexpr int kGrid = 600;
    double best = 1e9;
    for (int i = 0; i <= kGrid; ++i)
      for (int j = 0; i + j <= kGrid; ++j) {
        const int counts[] = {i, j, kGrid - i - j};
        double time = 0;
        for (std::size_t r = 0; r < 3; ++r)
          time = std::max(time, (1 + counts[r] / double{kGrid}) / b[r]);
        best = std::min(best, time);
      }
    const double found = shares_by_bandwidth(b).s_per_byte;
    EXPECT_LE(found, best * (1 + 1e-12));
    EXPECT_GE(found, best * (1 - 0.01));
  }
}

TEST(BandwidthShares, CutVectorsCompletely) {
  const std::vector<double> shares = {0.5, 0, 0.3, 0.2};
  for (const std::size_t n : {0, 1, 2, 9, 1000}) {
    const auto parts = parts_by_share(Tensor::phantom(n, DType::f32, 10 * n), shares);
    std::size_t numel = 0, priced = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      numel += parts[i].numel();
      priced += parts[i].priced_numel();
      EXPECT_NEAR(static_cast<double>(parts[i].numel()), shares[i] * static_cast<double>(n), 1);
    }
    EXPECT_EQ(numel, n);
    EXPECT_EQ(priced, 10 * n);
  }
}

/// NICs of 1 GB/s that differ by up to 80 %.
Cluster uneven(int nodes, int workers = 1) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.workers_per_node = workers;
  cluster.inter = {1e9, 10e-6};
  cluster.bandwidth_jitter = 0.8;
  return cluster;
}

TEST(BandwidthShares, FollowTheNicsOfTheCluster) {
  const Cluster cluster = uneven(3, 2);
  run_in_world("threads", cluster, [&](Context ctx) {
    const auto all = bandwidths_of(ctx);
    ASSERT_EQ(all.size(), 6u);
    for (int rank = 0; rank < 6; ++rank)
      EXPECT_DOUBLE_EQ(all[static_cast<std::size_t>(rank)], cluster.nic_bandwidth(rank / 2) / 2)
          << "both workers of a node use its NIC";
  });
  Cluster own_nics = cluster;
  own_nics.nics = Nics::per_worker;
  run_in_world("threads", own_nics, [&](Context ctx) {
    for (int rank = 0; rank < 6; ++rank)
      EXPECT_DOUBLE_EQ(bandwidths_of(ctx)[static_cast<std::size_t>(rank)],
                       own_nics.nic_bandwidth(rank));
  });
  run_in_world("threads", flat_cluster(3), [&](Context ctx) {
    EXPECT_EQ(bandwidths_of(ctx), std::vector<double>(3, ctx.layout->fabric().nic_Bps));
  });
}

class ScatterReduceByShare : public WorldTest {};

/// bf16 represents the elements and their means exactly.
TEST_P(ScatterReduceByShare, Averages) {
  std::vector<double> shares(static_cast<std::size_t>(ranks()), 0.0);
  shares[0] = ranks() == 1 ? 1 : 0.7;
  if (ranks() > 1) shares.back() = 0.3;
  for (const std::size_t n : {1u, 5u, 100u, 1003u})
    run([&](Context ctx) {
      const Tensor x = ctx.device->empty(n);
      for (std::size_t i = 0; i < n; ++i)
        x.floats()[i] = static_cast<float>(8 * ctx.rank()) + static_cast<float>(i % 5);
      const auto codec = ctx.device->codec({"bf16"});
      c_lp_s_by_share(ctx, x, *codec, shares);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(x.floats()[i],
                  static_cast<float>(4 * (ctx.size() - 1)) + static_cast<float>(i % 5))
            << i;
    });
}

INSTANTIATE_TEST_SUITE_P(Worlds, ScatterReduceByShare, every_world(1, 2, 4, 7), world_test_name);

/// The amount that codes of signs have not sent is bounded, so with error feedback the mean over
/// many steps approaches the mean of the inputs, whoever owns which part.
TEST(ScatterReduceByShareFeedback, SendsEverythingInTheEnd) {
  constexpr int kRanks = 4;
  constexpr std::size_t kNumel = 60;
  constexpr long kSteps = 200;
  const auto input = [](int rank, std::size_t i) {
    return static_cast<float>(static_cast<int>(i * 7 % 11) - 5 + rank);
  };
  const auto error = [&](bool feedback) {
    const auto results = vectors_in_world("threads", uneven(kRanks), [&](Context ctx) {
      const Exchange average = coded_average({.codec = {"sign"},
                                              .error_feedback = feedback,
                                              .phase2 = SecondPhase::direct,
                                              .shares = Shares::by_bandwidth});
      std::vector<float> sum(kNumel, 0.0f);
      const Tensor x = ctx.device->empty(kNumel);
      for (long step = 0; step < kSteps; ++step) {
        for (std::size_t i = 0; i < kNumel; ++i) x.floats()[i] = input(ctx.rank(), i);
        average(ctx, x, {0, step});
        for (std::size_t i = 0; i < kNumel; ++i) sum[i] += x.floats()[i] / kSteps;
      }
      return sum;
    });
    double largest = 0;
    for (std::size_t i = 0; i < kNumel; ++i) {
      EXPECT_EQ(results[0][i], results[3][i]);
      largest = std::max(largest, std::abs(double{results[0][i]} - (input(0, i) + 1.5)));
    }
    return largest;
  };
  EXPECT_LT(error(true), 0.3);
  EXPECT_GT(error(false), 1);
}

}  // namespace
}  // namespace trigram::test::bandwidth_shares_test
