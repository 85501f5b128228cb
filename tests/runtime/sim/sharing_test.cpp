#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "netmodels/cluster_network.h"
#include "runtime/sim/sim_runtime.h"
#include "tests/oracles/flows.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"

// Links are shared max-min fairly, even if messages start at the same time: random messages between
// workers that share NICs take the time that progressive filling predicts.

namespace trigram::test::sharing_test {
namespace {

constexpr int kNodes = 4, kWorkers = 4, kRanks = kNodes * kWorkers;

/// Each worker sends one message and receives one.
struct Round {
  std::vector<int> destination, source;  // by rank
  std::vector<std::size_t> bytes;        // by sender
};

/// Messages that every worker sends and receives in one batch, once the worker is ready.
struct Pattern {
  std::vector<double> ready_s;  // by rank
  std::vector<Round> rounds;
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Round draw_round(std::mt19937& generator) {
  Round round{std::vector<int>(kRanks), std::vector<int>(kRanks), {}};
  std::iota(round.source.begin(), round.source.end(), 0);
  // One cycle through all ranks (Sattolo's algorithm), so that no rank sends to itself.
  std::vector<int> order = round.source;
  for (std::size_t i = kRanks - 1; i > 0; --i) std::swap(order[i], order[generator() % i]);
  for (int r = 0; r < kRanks; ++r) {
    round.destination[at(r)] = order[at(r)];
    round.source[at(order[at(r)])] = r;
    round.bytes.push_back(1'000'000 * (1 + generator() % 5));
  }
  return round;
}

/// Ranks become ready at one of three times, so that many messages start together.
Pattern draw(std::uint32_t seed, int rounds) {
  std::mt19937 generator(seed);
  Pattern pattern;
  for (int r = 0; r < kRanks; ++r) pattern.ready_s.push_back(1e-3 * (1 + generator() % 3));
  for (int i = 0; i < rounds; ++i) pattern.rounds.push_back(draw_round(generator));
  return pattern;
}

/// The links have this order: NICs out and in, then ports out and in.
Flow flow_of(const Cluster& cluster, const Pattern& p, const Round& round, int source) {
  const int destination = round.destination[at(source)];
  const int out = cluster.node_of(source), in = cluster.node_of(destination);
  Flow flow;
  flow.start_s = std::max(p.ready_s[at(source)], p.ready_s[at(destination)]) +
                 (out == in ? cluster.intra.latency_s : cluster.inter.latency_s);
  flow.bytes = static_cast<double>(round.bytes[at(source)]);
  flow.links = {at(out), at(kNodes + in)};
  if (out == in) flow.links = {at(2 * kNodes + source), at(2 * kNodes + kRanks + destination)};
  return flow;
}

/// The flow in any network, along its routes.
Flow flow_of(const Network& network, const Pattern& p, const Round& round, int source) {
  const int destination = round.destination[at(source)];
  Flow flow;
  flow.start_s = std::max(p.ready_s[at(source)], p.ready_s[at(destination)]) +
                 network.latency(source, destination);
  flow.bytes = static_cast<double>(round.bytes[at(source)]);
  std::vector<LinkId> links;
  network.route(source, destination, links);
  for (const LinkId id : links)
    if (!network.link(id).unlimited()) flow.links.push_back(at(id));
  return flow;
}

/// The time at which the batch of each rank ends.
template <class Described>
std::vector<double> expected_ends(const Described& described, const std::vector<double>& bandwidth,
                                  const Pattern& p) {
  std::vector<Flow> flows;
  for (const Round& round : p.rounds)
    for (int r = 0; r < kRanks; ++r) flows.push_back(flow_of(described, p, round, r));
  const auto message = max_min_ends(bandwidth, flows);
  std::vector<double> ends(kRanks, 0);
  for (std::size_t i = 0; i < message.size(); ++i) {
    const std::size_t sender = i % kRanks;
    for (const std::size_t rank : {sender, at(p.rounds[i / kRanks].destination[sender])})
      ends[rank] = std::max(ends[rank], message[i]);
  }
  return ends;
}

double exchange(const Context& ctx, const Pattern& p) {
  const std::size_t rank = at(ctx.rank());
  std::vector<Transfer> batch;
  for (const Round& round : p.rounds) {
    const int source = round.source[rank];
    batch.push_back({Transfer::recv, phantom_bytes(round.bytes[at(source)]), source});
    batch.push_back({Transfer::send, phantom_bytes(round.bytes[rank]), round.destination[rank]});
  }
  ctx.stream->sleep_for(p.ready_s[rank]);
  ctx.comm->transfer(batch);
  return ctx.stream->now();
}

/// Uses rendezvous messages, all of which share links. The messages of an eager connection would
/// follow each other.
void expect_ends(Cluster cluster, const Pattern& p, const std::vector<double>& expected) {
  cluster.transport.protocol = Transport::Protocol::rendezvous;
  const auto ends = simulate(cluster, [&](const Context& ctx) { return exchange(ctx, p); });
  ASSERT_EQ(ends.size(), expected.size());
  for (std::size_t r = 0; r < ends.size(); ++r)
    EXPECT_NEAR(ends[r], expected[r], 1e-9 * expected[r]) << "rank " << r;
}

class SimSharing : public ::testing::TestWithParam<int> {};

TEST_P(SimSharing, IsMaxMinFair) {
  const Cluster cluster = round_cluster(kNodes, kWorkers);
  std::vector<double> bandwidth(2 * kNodes, cluster.inter.bandwidth_Bps);
  bandwidth.resize(2 * kNodes + 2 * kRanks, cluster.intra.bandwidth_Bps);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Pattern p = draw(seed, GetParam());
    expect_ends(cluster, p, expected_ends(cluster, bandwidth, p));
  }
}

/// Networks whose links have less bandwidth than NICs, in every topology for sixteen workers.
std::vector<NamedCluster> narrow_networks() {
  const auto narrow = [](Json topology) {
    topology["bandwidth"] = "300MB/s";
    topology["latency"] = "30us";  // differs from the latencies of other flows on the same links
    return topology;
  };
  Cluster bridged = cluster_with_topology("flat", kNodes, kWorkers);
  bridged.intra.kind = IntraKind::pcie;
  // Messages inside and between nodes, with different latencies, share bridges.
  Cluster staged = bridged;
  staged.intra.gpudirect = false;
  staged.intra.bridge_Bps = 0.7e9;
  Cluster staged_at_once = staged;
  staged_at_once.intra.latency_s = 0;
  return {
      {"fat_tree", cluster_with_topology(narrow({{"kind", "fat_tree"}, {"k", 4}}), kRanks)},
      {"leaves", cluster_with_topology(
                     narrow({{"kind", "fat_tree"}, {"nodes_per_leaf", 4}, {"taper", 2}}), kRanks)},
      {"torus", cluster_with_topology(narrow({{"kind", "torus"}, {"dimensions", {4, 4}}}), kRanks)},
      {"hammingmesh",
       cluster_with_topology(
           narrow({{"kind", "hammingmesh"}, {"board", {2, 2}}, {"boards", {2, 2}}}), kRanks)},
      {"dragonfly", cluster_with_topology(narrow({{"kind", "dragonfly"},
                                                  {"groups", 4},
                                                  {"routers_per_group", 4},
                                                  {"nodes_per_router", 1},
                                                  {"global_links_per_router", 1}}),
                                          kRanks)},
      {"wan", cluster_with_topology(wan_options(4, 4), kRanks)},
      {"wan_access_links",
       cluster_with_topology(with_access_links(wan_options(4, 4), {110, 60, 0}, {0, 90, 70}),
                             kRanks)},
      {"host_bridges", bridged},
      {"staged", staged},
      {"staged_without_latency_inside", staged_at_once},
  };
}

TEST_P(SimSharing, IsMaxMinFairOnEveryTopology) {
  for (const auto& [name, cluster] : narrow_networks()) {
    const auto network = make_network(cluster);
    std::vector<double> bandwidth;
    for (const Link& link : network->links()) bandwidth.push_back(link.bandwidth_Bps);
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(name + ", seed " + std::to_string(seed));
      const Pattern p = draw(seed, GetParam());
      expect_ends(cluster, p, expected_ends(*network, bandwidth, p));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(MessagesAtOnce, SimSharing, ::testing::Values(1, 2, 5),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace trigram::test::sharing_test
