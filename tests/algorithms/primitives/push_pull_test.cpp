#include "algorithms/servers/push_pull.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulate.h"
#include "tests/support/training.h"

// The durations of pushes and pulls of parameter servers, compared with closed forms.

namespace trigram::test::push_pull_test {
namespace {

constexpr double kLatency_s = 10e-6, kBandwidth_Bps = 1e9;
constexpr std::size_t kPartition = 1'000'000;

/// Nodes of one rank each, on which additions take no time.
Cluster cluster_of(int ranks) {
  Cluster cluster = round_cluster(ranks);
  cluster.accelerator.memory_Bps = 1e30;
  return cluster;
}

/// The time at which the last rank finishes, with one server beside `workers` workers, and one
/// bucket in `partitions` partitions.
double seconds(int workers, std::size_t partitions, bool acknowledged,
               SimOptions::Fidelity fidelity, double latency_s = kLatency_s) {
  Cluster cluster = cluster_of(workers + 1);
  cluster.inter.latency_s = latency_s;
  const auto ends = simulate(cluster,
                             [&](Context ctx) {
                               const Tensor x = ctx.device->empty(partitions * kPartition / 4);
                               Bucket buckets[] = {{0, x, x}};
                               const PushPull rounds(
                                   ctx, buckets, Servers(1, ctx.size(), Placement::beside),
                                   {.partition_bytes = kPartition, .acknowledged = acknowledged});
                               for (std::size_t r = 0; r < rounds.exchanges(); ++r)
                                 rounds.exchange(ctx, r);
                               return ctx.stream->now();
                             },
                             {.fidelity = fidelity});
  return *std::max_element(ends.begin(), ends.end());
}

class PushPullTimes : public ::testing::TestWithParam<SimOptions::Fidelity> {};

/// The push, an acknowledgement of 112 bytes, a request of 120 bytes and the answer. For each of
/// these, every worker has one message, which takes its time at the server's port and then its
/// latency.
TEST_P(PushPullTimes, OfAPartitionAreTwoRoundTrips) {
  for (const int workers : {1, 2, 5}) {
    const double bytes = workers * (kPartition + 112 + 120 + kPartition);
    const double expected = 4 * kLatency_s + bytes / kBandwidth_Bps;
    EXPECT_NEAR(seconds(workers, 1, true, GetParam()), expected, 1e-9 * expected) << workers;
  }
}

TEST_P(PushPullTimes, OfAPartitionAreOneRoundTripWithoutAcknowledgements) {
  for (const int workers : {1, 2, 5}) {
    const double expected = 2 * kLatency_s + workers * 2 * kPartition / kBandwidth_Bps;
    EXPECT_NEAR(seconds(workers, 1, false, GetParam()), expected, 1e-9 * expected) << workers;
  }
}

INSTANTIATE_TEST_SUITE_P(Fidelities, PushPullTimes,
                         ::testing::Values(SimOptions::Fidelity::message,
                                           SimOptions::Fidelity::fluid),
                         [](const auto& fidelity) {
                           return fidelity.param == SimOptions::Fidelity::fluid ? "fluid"
                                                                                : "message";
                         });

/// The increase of a step's time if the latency grows by a millisecond, in units of latencies. The
/// model has 25 partitions and as many rounds, on 2 nodes.
double latencies(const Json& options, Transport::Protocol protocol = Transport::Protocol::eager) {
  Training training;
  training.algorithm = {{"name", "parameter_server"}, {"servers", 1}, {"partition", "40B"}};
  training.algorithm.update(options);
  training.workload = {{"name", "quadratic"}, {"dimension", 250}, {"tensors", 1}};
  training.cluster = small_cluster(2);
  training.cluster.transport.protocol = protocol;
  training.steps = 1;
  const auto step_s = [&](double latency_s) {
    training.cluster.inter.latency_s = latency_s;
    return train(training).seconds();
  };
  return (step_s(2e-3) - step_s(1e-3)) / 1e-3;
}

constexpr double kRounds = 25;

/// A worker that does not serve waits for nothing before it pushes, and a server that does not work
/// answers everything that has arrived.
TEST(PushPullRounds, PayFourLatenciesTogetherWhereServersOnlyServe) {
  EXPECT_NEAR(latencies({{"placement", "beside"}}), 4, 0.01);
}

/// On a single stream each exchange waits for its messages.
TEST(PushPullRounds, PayALatencyEachOnASingleStream) {
  constexpr auto kRendezvous = Transport::Protocol::rendezvous;
  EXPECT_NEAR(latencies({{"placement", "beside"}}, kRendezvous), kRounds + 3, 0.01);
  EXPECT_NEAR(latencies({{"placement", "beside"}, {"acknowledged", false}}, kRendezvous),
              kRounds + 1, 0.01);
}

/// A rank that works and serves does not wait either: its pushes do not wait for the pushes that it
/// receives.
TEST(PushPullRounds, PayFourLatenciesTogetherWhereServersWork) {
  EXPECT_NEAR(latencies({{"servers", 2}}), 4, 0.01) << "13 rounds of 2";
}

/// The same holds among the leaders of nodes. Traffic inside nodes does not have the latency
/// between nodes.
TEST(PushPullRounds, PayFourLatenciesTogetherWhereLeadersServe) {
  EXPECT_NEAR(latencies({{"servers", 2}, {"hierarchical", true}}), 4, 0.01);
}

}  // namespace
}  // namespace trigram::test::push_pull_test
