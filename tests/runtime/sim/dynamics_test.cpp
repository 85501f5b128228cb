// Simulated links whose bandwidth depends on time: shaped NICs, profiles, background traffic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "netmodels/cluster_network.h"
#include "netmodels/network/lower_bound.h"
#include "tests/support/clusters.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"

namespace trigram::test::dynamics_test {
namespace {

using testing::HasSubstr;

constexpr double kNic_Bps = 1e9, kLatency = 10e-6;  // as in cluster_with_topology
constexpr double kRate_Bps = 0.1e9, kDepth = 1e6;   // of the token buckets

/// Nodes whose messages use a rendezvous, so that both ranks know when a message has been
/// delivered, and so that messages between the same ranks share the bandwidth of links.
Cluster joined(int nodes) {
  Cluster cluster = cluster_with_topology("flat", nodes);
  cluster.transport.protocol = Transport::Protocol::rendezvous;
  return cluster;
}

Cluster shaped(int nodes, double depth_bytes = kDepth) {
  Cluster cluster = joined(nodes);
  cluster.inter.shaping = {kRate_Bps, depth_bytes};
  return cluster;
}

Cluster changing(std::vector<LinkChange> profile) {
  Cluster cluster = joined(2);
  cluster.inter.profile = std::move(profile);
  return cluster;
}

/// The time at which rank 1 has received `messages` from rank 0, one after the other, with pauses
/// between them.
double one_after_the_other_s(const Cluster& cluster, const std::vector<double>& messages,
                             double pause_s = 0) {
  return simulate(cluster, [&](const Context& ctx) {
    for (const double bytes : messages) {
      if (bytes != messages.front()) ctx.stream->sleep_for(pause_s);
      message_from_0_to_1(ctx, static_cast<std::size_t>(bytes));
    }
    return ctx.stream->now();
  })[1];
}

/// The lower bound for one message between two nodes.
double bound_s(const Cluster& cluster, double bytes) {
  const std::vector<Traffic> sent = {{0, static_cast<std::uint64_t>(bytes), 0, 1}, {}};
  return lower_bound(*make_network(cluster), sent);
}

TEST(Shaping, OneMessageAfterIdleTime) {
  // Within the credit, which grows meanwhile, bytes move at the NIC's bandwidth.
  EXPECT_NEAR(one_after_the_other_s(shaped(2), {0.5e6}), kLatency + 0.5e6 / kNic_Bps, 1e-12);
  EXPECT_NEAR(one_after_the_other_s(shaped(2), {1.1e6}), kLatency + 1.1e6 / kNic_Bps, 1e-12);
  // Beyond the credit, bytes that the depth does not cover move at the rate.
  EXPECT_NEAR(one_after_the_other_s(shaped(2), {4e6}), kLatency + (4e6 - kDepth) / kRate_Bps,
              1e-11);
}

TEST(Shaping, StartsWithTheDescribedCredit) {
  Cluster cluster = shaped(2);
  cluster.inter.shaping.initial_bytes = 0;
  // During the latency no bytes move. The credit grows meanwhile, but by less than another burst
  // needs.
  EXPECT_NEAR(one_after_the_other_s(cluster, {4e6}), kLatency + 4e6 / kRate_Bps,
              1e-3 * kDepth / kRate_Bps);
  EXPECT_GT(one_after_the_other_s(cluster, {4e6}), 4e6 / kRate_Bps - 1e-9);
  cluster.inter.shaping.initial_bytes = kDepth / 4;
  EXPECT_NEAR(one_after_the_other_s(cluster, {4e6}), (4e6 - kDepth / 4) / kRate_Bps, 1e-11);
  // A bucket that is idle from the start saves credit, as after any other idle time.
  cluster.inter.shaping.initial_bytes = 0;
  const double pause_s = 5e-3;
  const double sent_s = simulate(cluster, [&](const Context& ctx) {
    ctx.stream->sleep_for(pause_s);
    message_from_0_to_1(ctx, 4'000'000);
    return ctx.stream->now();
  })[1];
  EXPECT_NEAR(sent_s, pause_s + kLatency + (4e6 - kRate_Bps * (pause_s + kLatency)) / kRate_Bps,
              1e-9);
}

TEST(Shaping, WithoutDepthTheRateIsStrict) {
  for (const double bytes : {0.5e6, 4e6})
    EXPECT_NEAR(one_after_the_other_s(shaped(2, 0), {bytes}), kLatency + bytes / kRate_Bps, 1e-12);
  EXPECT_EQ(make_network(shaped(2, 0))->bandwidth(0, 1), kRate_Bps);
}

TEST(Shaping, ASecondMessageHasTheRemainingCredit) {
  const double first_s = kLatency + 0.5e6 / kNic_Bps, flows_s = first_s + kLatency;
  const double credit = kDepth - 0.5e6 + kRate_Bps * (flows_s - kLatency);
  EXPECT_NEAR(one_after_the_other_s(shaped(2), {0.5e6, 4e6}), flows_s + (4e6 - credit) / kRate_Bps,
              1e-11);
}

TEST(Shaping, IdleTimeEarnsCredit) {
  const double pause_s = 5e-3, first_s = kLatency + (4e6 - kDepth) / kRate_Bps;
  const double credit = kRate_Bps * (pause_s + kLatency);
  ASSERT_LT(credit, kDepth);
  EXPECT_NEAR(one_after_the_other_s(shaped(2), {4e6, 3e6}, pause_s),
              first_s + pause_s + kLatency + (3e6 - credit) / kRate_Bps, 1e-11);
  // The credit never exceeds the depth.
  EXPECT_NEAR(one_after_the_other_s(shaped(2), {4e6, 3e6}, 1),
              first_s + 1 + kLatency + (3e6 - kDepth) / kRate_Bps, 1e-9);
}

TEST(Shaping, FlowsShareABucket) {
  // First for messages that leave the same NIC, then for messages that enter the same NIC.
  for (const bool out : {true, false}) {
    const auto ends = simulate(shaped(3), [&](const Context& ctx) {
      const auto kind = (ctx.rank() == 0) == out ? Transfer::send : Transfer::recv;
      const Tensor short_message = phantom_bytes(2'000'000),
                   long_message = phantom_bytes(4'000'000);
      std::vector<Transfer> batch = {{kind, short_message, 1}, {kind, long_message, 2}};
      if (ctx.rank() > 0) batch = {{kind, ctx.rank() == 1 ? short_message : long_message, 0}};
      ctx.comm->transfer(batch);
      return ctx.stream->now();
    });
    EXPECT_NEAR(ends[0], kLatency + (2e6 + 4e6 - kDepth) / kRate_Bps, 1e-11);
    // Each message gets half of the bucket, until the shorter one ends.
    EXPECT_NEAR(ends[1], kLatency + (2 * 2e6 - kDepth) / kRate_Bps, 1e-11);
  }
}

TEST(Shaping, CountsHeaders) {
  Cluster cluster = shaped(2);
  cluster.transport.goodput = 0.5;
  EXPECT_NEAR(one_after_the_other_s(cluster, {4e6}), kLatency + (8e6 - kDepth) / kRate_Bps, 1e-11);
}

TEST(Shaping, AgreesWithTheLowerBound) {
  for (const double bytes : {0.5e6, 4e6})
    EXPECT_NEAR(bound_s(shaped(2), bytes), one_after_the_other_s(shaped(2), {bytes}), 1e-11);
}

TEST(Shaping, TheLowerBoundKnowsTheCreditAtTheStart) {
  for (const double initial : {0.0, 0.25e6, 0.99e6, 5e6}) {
    Cluster cluster = shaped(2);
    cluster.inter.shaping.initial_bytes = initial;
    const double end_s = one_after_the_other_s(cluster, {4e6}), least_s = bound_s(cluster, 4e6);
    EXPECT_LE(least_s, end_s + 1e-11) << initial;
    EXPECT_NEAR(least_s, end_s, 1e-3 * kDepth / kRate_Bps) << initial;
  }
}

TEST(Profile, ChangesBandwidthAndLatency) {
  // From 1 ms on the bandwidth is a half, and from 3 ms on a fifth. In between the latency is
  // threefold.
  const Cluster cluster = changing({{1e-3, 0.5, 3}, {3e-3, 0.2, 1}});
  const double by_1ms = kNic_Bps * (1e-3 - kLatency), by_3ms = by_1ms + 0.5 * kNic_Bps * 2e-3;
  EXPECT_NEAR(one_after_the_other_s(cluster, {0.5e6}), kLatency + 0.5e6 / kNic_Bps, 1e-12);
  EXPECT_NEAR(one_after_the_other_s(cluster, {1.5e6}), 1e-3 + (1.5e6 - by_1ms) / (0.5 * kNic_Bps),
              1e-12);
  EXPECT_NEAR(one_after_the_other_s(cluster, {3e6}), 3e-3 + (3e6 - by_3ms) / (0.2 * kNic_Bps),
              1e-12);
  // A message that starts at 2 ms.
  EXPECT_NEAR(one_after_the_other_s(cluster, {0, 0.1e6}, 2e-3 - kLatency),
              2e-3 + 3 * kLatency + 0.1e6 / (0.5 * kNic_Bps), 1e-12);
}

TEST(Profile, ChangesMessagesInFlight) {
  // The bandwidth may also rise above its value at the message's start.
  const Cluster cluster = changing({{1e-3, 4, 1}});
  EXPECT_NEAR(one_after_the_other_s(cluster, {3e6}),
              1e-3 + (3e6 - kNic_Bps * (1e-3 - kLatency)) / (4 * kNic_Bps), 1e-12);
}

TEST(Profile, AppliesFromTheStart) {
  EXPECT_NEAR(one_after_the_other_s(changing({{0, 0.5, 2}}), {1e6}),
              2 * kLatency + 1e6 / (0.5 * kNic_Bps), 1e-12);
}

TEST(Profile, DoesNotAffectLinksInsideNodes) {
  Cluster cluster = cluster_with_topology("flat", 1, 2);
  const double before_s = one_after_the_other_s(cluster, {1e6});
  cluster.inter.profile = {{0, 0.1, 10}};
  EXPECT_EQ(one_after_the_other_s(cluster, {1e6}), before_s);
}

TEST(Profile, ChangesLinksAndLatenciesOfTopologies) {
  Cluster cluster = cluster_with_topology(
      {{"kind", "torus"}, {"dimensions", {2}}, {"latency", "1ms"}, {"bandwidth", "0.5GB/s"}}, 2);
  cluster.inter.profile = {{0, 0.1, 3}};
  EXPECT_NEAR(one_after_the_other_s(cluster, {1e6}), 3 * (kLatency + 1e-3) + 1e6 / 0.05e9, 1e-12);
}

TEST(Profile, ChangesTheLatencyOfControlMessages) {
  const auto ends = simulate(changing({{1, 1, 7}}), [](const Context& ctx) {
    for (const double date_s : {0.0, 2.0}) {
      if (ctx.rank() == 0) {
        ctx.stream->sleep_for(date_s - ctx.stream->now());
        ctx.control->post(1, 0, 0, 0);
      } else {
        ctx.control->receive(0);
      }
    }
    return ctx.stream->now();
  });
  EXPECT_NEAR(ends[1], 2 + 7 * kLatency, 1e-12);
}

TEST(Profile, AgreesWithTheLowerBound) {
  const Cluster cluster = changing({{1e-3, 0.5, 3}, {3e-3, 2, 1}});
  for (const double bytes : {0.5e6, 1.5e6, 4e6})
    EXPECT_NEAR(bound_s(cluster, bytes), one_after_the_other_s(cluster, {bytes}), 1e-11);
  // The latency may be at its minimum when a message is sent.
  EXPECT_NEAR(bound_s(changing({{1e-3, 1, 0.5}}), 0), kLatency / 2, 1e-15);
}

TEST(Dynamics, AreChecked) {
  const auto error = [](const Json& more) {
    Json inter = {{"bandwidth", "1GB/s"}, {"latency", "10us"}};
    inter.update(more);
    return error_of(Json{{"nodes", 2}, {"inter", inter}}.dump());
  };
  const Json slow = {{"at", "1s"}, {"bandwidth", 0.5}}, bucket = {{"rate", "1Gbps"}};
  EXPECT_EQ(error({{"profile", {slow}}}), "no error");
  EXPECT_EQ(error({{"shaping", bucket}}), "no error");
  EXPECT_THAT(error({{"profile", {slow, slow}}}), HasSubstr("/cluster/inter/profile/1/at"));
  EXPECT_THAT(error({{"profile", {slow}}, {"shaping", bucket}}),
              HasSubstr("/cluster/inter/profile"));
  EXPECT_THAT(error({{"profile", {{{"at", "1s"}, {"bandwidth", 0}}}}}),
              HasSubstr("/cluster/inter/profile/0/bandwidth"));
  EXPECT_THAT(error({{"shaping", {{"depth", "1MB"}}}}), HasSubstr("/cluster/inter/shaping/rate"));
  EXPECT_THAT(error({{"shaping", {{"rate", "1Gbps"}, {"deph", "1MB"}}}}), HasSubstr("\"depth\""));
}

TEST(Dynamics, SurviveARoundTrip) {
  const Json inter = {{"bandwidth", "1GB/s"},
                      {"latency", "10us"},
                      {"shaping", {{"rate", "0.1GB/s"}, {"depth", "1MB"}}},
                      {"background", {{"load", 0.5}}}};
  const Json dumped = cluster_fields().dump(parse_cluster({{"inter", inter}}, ""));
  EXPECT_EQ(cluster_fields().dump(parse_cluster(dumped, "")), dumped);
  EXPECT_TRUE(dumped.at("inter").contains("shaping"));
  EXPECT_FALSE(dumped.at("inter").contains("profile"));
  EXPECT_FALSE(cluster_fields().dump(Cluster{}).at("inter").contains("shaping"));
}

}  // namespace
}  // namespace trigram::test::dynamics_test
