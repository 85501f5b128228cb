// Background traffic in the simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/clusters.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"

namespace trigram::test::background_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kNic_Bps = 1e9;  // as in cluster_with_topology

Cluster loaded(double load, double flow_bytes = 1e6, int seed = 1, int nodes = 4) {
  Cluster cluster = cluster_with_topology("flat", nodes);
  cluster.inter.background = {load, flow_bytes, seed};
  // With a rendezvous, both ranks know when a message has been delivered.
  cluster.transport.protocol = Transport::Protocol::rendezvous;
  return cluster;
}

/// The duration of one message of `bytes` bytes from every rank to the next.
double shift_s(const Cluster& cluster, double bytes) {
  return latest_end_s(simulate(cluster, [&](const Context& ctx) {
    const int P = ctx.size();
    const Tensor x = phantom_bytes(static_cast<std::size_t>(bytes));
    const Transfer batch[] = {{Transfer::recv, x, (ctx.rank() + P - 1) % P},
                              {Transfer::send, x, (ctx.rank() + 1) % P}};
    ctx.comm->transfer(batch);
    return ctx.stream->now();
  }));
}

/// The mean duration of `count` messages from one node to another, with pauses between them.
double mean_s(const Cluster& cluster, double bytes, int count, double pause_s) {
  const auto sums = simulate(cluster, [&](const Context& ctx) {
    double sum_s = 0;
    for (int i = 0; i < count; ++i) {
      ctx.stream->sleep_for(pause_s);
      const double begin_s = ctx.stream->now();
      message_from_0_to_1(ctx, static_cast<std::size_t>(bytes));
      sum_s += ctx.stream->now() - begin_s;
    }
    return sum_s;
  });
  return sums.empty() ? -1 : sums[0] / count;
}

// All traffic between two nodes shares one NIC. Poisson arrivals that share it evenly are an
// M/G/1-PS queue.

/// A long message gets the bandwidth that the background traffic leaves.
TEST(Background, LeavesTheRemainingBandwidthToALongMessage) {
  const double bytes = 1e9, flow_bytes = 1e5;
  for (const double load : {0.1, 0.5, 0.7, 0.9}) {
    const double expected_s = bytes / kNic_Bps / (1 - load);
    // The background traffic is a compound Poisson process of work. Its variance is 2 load s t for
    // flows that would take s seconds on average on an idle link.
    const double deviation = std::sqrt(2 * load * flow_bytes / kNic_Bps / expected_s) / (1 - load);
    EXPECT_NEAR(mean_s(loaded(load, flow_bytes, 1, 2), bytes, 1, 0) / expected_s, 1, 4 * deviation)
        << load;
  }
}

/// A message of n bytes takes n / ((1 - load) bandwidth) on average, however short it is
/// (Kleinrock, Time-shared systems: a theoretical treatment, JACM 14(2), 1967).
TEST(Background, SlowsMessagesOfAllLengthsAlike) {
  const double load = 0.5;
  for (const double bytes : {3e4, 3e5, 3e6}) {
    const double expected_s = 10e-6 + bytes / kNic_Bps / (1 - load);
    EXPECT_NEAR(mean_s(loaded(load, 1e5, 1, 2), bytes, 2000, 2e-3) / expected_s, 1, 0.1) << bytes;
  }
}

TEST(Background, LoadsTheNicsOfBothSides) {
  // A message waits at least for the load of one NIC, and at most for the loads of both, one after
  // the other.
  const double bytes = 4e9, alone_s = bytes / kNic_Bps;
  double before_s = shift_s(loaded(0), bytes);
  EXPECT_NEAR(before_s, alone_s, 1e-4);
  for (const double load : {0.1, 0.3}) {
    const double time_s = shift_s(loaded(load), bytes);
    EXPECT_GT(time_s, before_s);
    EXPECT_GT(time_s, 0.95 * alone_s / (1 - load)) << load;
    EXPECT_LT(time_s, 1.05 * alone_s / (1 - 2 * load)) << load;
    before_s = time_s;
  }
}

/// The NICs of many nodes are as stable under this load as a single NIC.
TEST(Background, LetsMessagesEndAtTheHighestLoad) {
  const double bytes = 3e6, alone_s = bytes / kNic_Bps;
  const double time_s = shift_s(loaded(0.9, 1e5, 1, 8), bytes);
  EXPECT_GT(time_s, 3 * alone_s);
  EXPECT_LT(time_s, 60 * alone_s);
}

/// The load is a fraction of the bandwidth for payload.
TEST(Background, LoadsTheBandwidthForPayload) {
  Cluster cluster = loaded(0.5, 1e5, 1, 2);
  cluster.transport.goodput = 0.5;
  EXPECT_NEAR(mean_s(cluster, 1e9, 1, 0), 1e9 / (0.5 * kNic_Bps) / (1 - 0.5), 0.2);
}

/// The limits of the job's transport do not apply to background traffic.
TEST(Background, IsNotLimitedByTheTransport) {
  // A message may use ten percent of the NIC. That much is nearly always free.
  for (const bool node : {true, false}) {
    Cluster cluster = loaded(0.5, 1e5, 1, 2);
    (node ? cluster.transport.node_cap_Bps : cluster.transport.connection_cap_Bps) = 0.1 * kNic_Bps;
    EXPECT_NEAR(mean_s(cluster, 1e8, 1, 0), 1e8 / (0.1 * kNic_Bps), 0.02);
  }
}

TEST(Background, IsRefusedIfItOverloadsALink) {
  const auto error = [](Json inter, const Json& topology) {
    inter["bandwidth"] = "1GB/s";
    inter["latency"] = "10us";
    return error_of(Json{{"nodes", 8}, {"inter", inter}, {"topology", topology}}.dump());
  };
  const auto load = [](double share) { return Json{{"background", {{"load", share}}}}; };
  EXPECT_EQ(error(load(0.9), {{"kind", "flat"}}), "no error");
  EXPECT_THAT(error(load(0.95), {{"kind", "flat"}}), HasSubstr("/cluster/inter/background/load"));
  Json tiny = load(0.5);
  tiny["background"]["flow"] = "500B";  // a million per second
  EXPECT_EQ(error(tiny, {{"kind", "flat"}}), "no error");
  tiny["background"]["flow"] = "1B";
  EXPECT_THAT(
      error(tiny, {{"kind", "flat"}}),
      HasSubstr("/cluster/inter/background/flow: expected flows of at least 500 B, not 1 B"));
  // The 4 nodes of a leaf send 4/7 of their bytes out of the leaf, over one link with four times
  // the bandwidth of a NIC.
  const Json tapered = {{"kind", "fat_tree"}, {"nodes_per_leaf", 4}, {"taper", 4}};
  EXPECT_EQ(error(load(0.39), tapered), "no error");
  EXPECT_THAT(
      error(load(0.4), tapered),
      AllOf(HasSubstr("/cluster/inter/background/load: expected at most 0.39"), HasSubstr("leaf")));
  Json shaped = load(0.5);
  shaped["shaping"] = {{"rate", "0.5GB/s"}, {"depth", "1MB"}};
  EXPECT_THAT(error(shaped, {{"kind", "flat"}}), HasSubstr("expected at most 0.45"));
  Json profile = load(0.5);
  profile["profile"] = {{{"at", "1s"}, {"bandwidth", 0.5}}, {{"at", "2s"}}};
  EXPECT_THAT(error(profile, {{"kind", "flat"}}), HasSubstr("expected at most 0.45"));
}

TEST(Background, IsTheSameInEveryRun) {
  const double time_s = shift_s(loaded(0.3), 1e8);
  EXPECT_EQ(shift_s(loaded(0.3), 1e8), time_s);
  EXPECT_NE(shift_s(loaded(0.3, 1e6, 2), 1e8), time_s);
  EXPECT_NE(shift_s(loaded(0.3, 2e6), 1e8), time_s);
}

TEST(Background, DoesNotHideThatARunHangs) {
  const auto waits_for_ever = [](const Context& ctx) {
    if (ctx.rank() == 0) receive_phantom(ctx, 1, 1);
  };
  for (const double load : {0.5, 0.9})
    EXPECT_THAT(failure_of(loaded(load), waits_for_ever), HasSubstr("hang: "));
}

TEST(Background, EndsWithTheRun) {
  Cluster cluster = loaded(0.9);
  cluster.inter.profile = {{1e9, 1, 2}};  // the run does not wait for this change
  const auto ends = simulate(cluster, [](const Context& ctx) {
    ctx.stream->sleep_for(1e-3 * (1 + ctx.rank()));
    return ctx.stream->now();
  });
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_NEAR(ends[3], 4e-3, 1e-12);
}

TEST(Background, DoesNotAffectASingleNode) {
  const Cluster quiet = cluster_with_topology("flat", 1, 4);
  Cluster one_node = quiet;
  one_node.inter.background = {0.5, 1e6, 1};
  EXPECT_EQ(shift_s(one_node, 1e8), shift_s(quiet, 1e8));
}

}  // namespace
}  // namespace trigram::test::background_test
