// Pushes and pulls of parameter servers as one coupled flow, compared with a simulation of all
// their messages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "netmodels/cluster_network.h"
#include "netmodels/h_relation.h"
#include "tests/support/training.h"

namespace trigram::test::servers_test {
namespace {

using Fidelity = SimOptions::Fidelity;

/// Without acknowledgements, exchanges run one after another on a single stream.
Training servers(const char* workload, int nodes, const Json& options) {
  Training training;
  training.algorithm = {{"name", "parameter_server"}, {"bucket", "0B"}, {"acknowledged", false}};
  training.algorithm.update(options);
  training.workload = workload;
  training.cluster = small_cluster(nodes);
  training.steps = 2;
  return training;
}

/// Compares the run by messages with the run by flows, within a relative `tolerance`.
void expect_as_by_messages(Training training, double tolerance) {
  const Trained by_messages = train(training);
  training.sim.fidelity = Fidelity::fluid;
  const Trained fluid = train(training);
  ASSERT_GT(fluid.seconds(), 0);
  const double error = fluid.seconds() / by_messages.seconds() - 1;
  EXPECT_LT(std::abs(error), tolerance);
  EXPECT_EQ(Json::parse(fluid.notes).at("collectives_by_messages"), 0);
  for (std::size_t rank = 0; rank < fluid.counters.size(); ++rank) {
    EXPECT_EQ(fluid.counters[rank].bytes_inter, by_messages.counters[rank].bytes_inter);
    EXPECT_EQ(fluid.counters[rank].messages_inter, by_messages.counters[rank].messages_inter);
  }
  fmt::print(stderr, "{} on {} nodes: {:+.2e} off\n", training.algorithm.dump(),
             training.cluster.nodes, error);
}

/// The link of the only server is the bottleneck from the first byte to the last. Flows of
/// exchanges follow one another with one latency between them; by messages, workers push ahead.
TEST(FluidServers, TakeAsLongAsByMessagesWithOneServer) {
  for (const int nodes : {2, 3, 8})
    for (const Json& more : {Json::object(), Json{{"placement", "beside"}}}) {
      Json options = {{"servers", 1}};
      options.update(more);
      expect_as_by_messages(servers("vgg16", nodes, options), 0.006);
    }
}

/// All ranks finish a flow at the same time. By messages, ranks that have finished continue, and
/// their next messages delay those of the other ranks.
TEST(FluidServers, TakeNearlyAsLongAsByMessagesWithManyServers) {
  for (const char* assignment : {"round_robin", "djb2"})
    for (const char* priority : {"ready", "need"})
      for (const int nodes : {2, 4, 16}) {
        Json options = {{"assignment", assignment}, {"priority", priority}};
        expect_as_by_messages(servers("vgg16", nodes, options), 0.05);
      }
  expect_as_by_messages(servers("bert_large", 4, {{"assignment", "djb2"}}), 0.05);
}

/// If acknowledged, the stages of a partition have one-way channels, which always use messages.
TEST(FluidServers, UseMessagesBetweenStages) {
  for (const char* priority : {"ready", "need"}) {
    Training training = servers("vgg16", 4, {{"acknowledged", true}, {"priority", priority}});
    const Trained by_messages = train(training);
    training.sim.fidelity = Fidelity::fluid;
    const double seconds = train(training).seconds();
    EXPECT_NEAR(seconds, by_messages.seconds(), 1e-12 * seconds) << "added up in another order";
  }
}

/// The transport has limits of connections, shares of the bandwidth, software overhead, and token
/// buckets.
TEST(FluidServers, ObeyTheTransport) {
  for (const int nodes : {2, 6}) {
    Training training = servers("vgg16", nodes, {{"assignment", "djb2"}});
    Transport& transport = training.cluster.transport;
    transport.efficiency.server = 0.8;
    transport.stage_overhead_s = 30e-6;
    transport.message_overhead_s = 5e-6;
    constexpr double tolerance = 0.03;
    expect_as_by_messages(training, tolerance);
    transport.channels = 2;
    transport.connection_cap_Bps = 0.5e9;
    transport.stream_cap_Bps = 0.3e9;
    expect_as_by_messages(training, tolerance);
    training.cluster.inter.shaping = {0.1e9, 10e6, 0};
    expect_as_by_messages(training, tolerance);
  }
}

/// Windows open by slow start and limit the rate.
TEST(FluidServers, ObeyWindows) {
  for (const int nodes : {2, 6})
    for (const double latency_s : {1e-3, 10e-3}) {
      Training training = servers("vgg16", nodes, {{"assignment", "djb2"}});
      training.cluster.inter.latency_s = latency_s;
      training.cluster.transport.tcp = linux_tcp();
      expect_as_by_messages(training, 0.05);
    }
}

/// Ranks of a node reach each other over other links than their NIC.
TEST(FluidServers, ObeyLinksInsideNodes) {
  Training training = servers("vgg16", 2, {{"servers", 2}, {"assignment", "djb2"}});
  training.cluster.workers_per_node = 2;
  expect_as_by_messages(training, 0.015);
  training.cluster.intra.bandwidth_Bps = 0.2e9;  // slower than the NIC
  expect_as_by_messages(training, 0.015);
}

TEST(FluidServers, UseMessagesWithAuto) {
  Training training = servers("vgg16", 3, {{"assignment", "djb2"}});
  const Trained by_messages = train(training);
  training.sim.fidelity = Fidelity::automatic;
  const Trained automatic = train(training);
  EXPECT_EQ(automatic.ended_s, by_messages.ended_s);
  EXPECT_EQ(Json::parse(automatic.notes).at("collectives_fluid"), 0);
}

/// Computed by hand: rank 0 sends 4 MB to rank 1 and 1 MB to rank 2, and rank 2 sends 2 MB to rank
/// 1. So rank 1 receives 6 MB.
TEST(HRelations, TakeTheTimeOfTheMostLoadedLink) {
  Cluster cluster = small_cluster(3);
  const auto network = make_network(cluster);
  HRelation relation(*network, cluster, TrafficClass::server);
  const CollectivePattern::Sent of_0[] = {{1, 1, 4'000'000}, {2, 1, 1'000'000}},
                                of_2[] = {{1, 1, 2'000'000}};
  relation.add(0, of_0);
  relation.add(1, {});
  relation.add(2, of_2);
  const std::vector<int> all = {0, 1, 2};
  const CoupledRounds pattern(*network, cluster, CollectivePattern::h_relation,
                              TrafficClass::server, all, 0);
  const auto [links, bytes] = relation.flow(pattern);
  EXPECT_DOUBLE_EQ(bytes / links.bandwidth(), 6e6 / cluster.inter.bandwidth_Bps);
  // A part is a 128th of 6 MB. The links out carry 5 and 2 MB and the links in 6 and 1 MB, rounded
  // up to whole parts.
  EXPECT_EQ(links.links().size(), 107u + 43 + 128 + 22);
  const auto no_windows = [](int, int, bool) -> TcpWindow& {
    throw std::logic_error("the network has no windows");
  };
  EXPECT_DOUBLE_EQ(relation.min_duration_s(0, no_windows), 6e6 / cluster.inter.bandwidth_Bps);
  EXPECT_EQ(relation.overhead_s(), 0);
  EXPECT_EQ(pattern.links().size(), 6u) << "three NICs, both ways";
  EXPECT_FALSE(pattern.exact());
}

}  // namespace
}  // namespace trigram::test::servers_test
