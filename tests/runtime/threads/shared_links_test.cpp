// Links that an emulated network shares slice by slice. The tests use computed times alone, without
// waiting in real time.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "netmodels/cluster_network.h"
#include "runtime/threads/shared_links.h"
#include "tests/oracles/flows.h"
#include "tests/support/networks.h"

namespace trigram::test::shared_links_test {
namespace {

constexpr double kDepth = 4000;  // in bytes
constexpr double kMB = 1e6;

struct Sent {
  double start_s = 0;
  int source = 0, destination = 0;
  double nbytes = 0;
};

struct Results {
  std::vector<double> end_s;            // by message
  std::vector<double> carried;          // bytes, by link
  bool earlier_than_predicted = false;  // a message ended before the time that next() returned
};

/// Runs messages over a network. Advances only to the times that next() returns, as the emulation
/// does.
Results run(const Cluster& cluster, const std::vector<Sent>& messages) {
  const auto network = make_network(cluster);
  threads::SharedLinks links(*network, kDepth);
  Results results{std::vector<double>(messages.size(), -1), {}};
  double not_before_s = 0;
  for (std::size_t i = 0; i < messages.size(); ++i)
    links.start(messages[i].start_s, messages[i].source, messages[i].destination,
                messages[i].nbytes, [&, i](double date_s) {
                  results.end_s[i] = date_s;
                  results.earlier_than_predicted |= date_s < not_before_s * (1 - 1e-12);
                });
  while (std::isfinite(links.next())) {
    not_before_s = links.next();
    links.advance(not_before_s);
  }
  for (std::size_t id = 0; id < network->links().size(); ++id)
    results.carried.push_back(links.carried(static_cast<LinkId>(id)));
  return results;
}

/// `nodes` x `workers` with NICs of 1 GB/s and ports of 10 GB/s.
Cluster nodes_of(int nodes, int workers = 1) {
  return cluster_with_topology("flat", nodes, workers);
}

TEST(SharedLinks, AMessageAloneIsAsFastAsItsNarrowestLink) {
  Cluster cluster = nodes_of(2, 2);
  cluster.transport.node_cap_Bps = 0.25e9;
  const Results between = run(cluster, {{3, 0, 2, kMB}});
  EXPECT_NEAR(between.end_s[0], 3 + kMB / 0.25e9, 1e-9);
  const Results inside = run(cluster, {{3, 0, 1, kMB}});
  EXPECT_NEAR(inside.end_s[0], 3 + kMB / 10e9, 1e-9);
}

TEST(SharedLinks, TwoMessagesThroughOneNicTakeTwiceAsLong) {
  for (const bool out : {true, false}) {  // the shared NIC is the sender's, or the receiver's
    const std::vector<Sent> alone = {{0, out ? 0 : 1, out ? 1 : 0, kMB}};
    const std::vector<Sent> both = {{0, out ? 0 : 1, out ? 1 : 0, kMB},
                                    {0, out ? 0 : 2, out ? 2 : 0, kMB}};
    const double alone_s = run(nodes_of(3), alone).end_s[0];
    for (const double end_s : run(nodes_of(3), both).end_s) EXPECT_NEAR(end_s / alone_s, 2, 0.06);
  }
}

TEST(SharedLinks, DirectionsDoNotShare) {
  const Results results = run(nodes_of(2), {{0, 0, 1, kMB}, {0, 1, 0, kMB}});
  for (const double end_s : results.end_s) EXPECT_NEAR(end_s, kMB / 1e9, 1e-9);
}

TEST(SharedLinks, AConnectionMovesNoMoreThanItsCap) {
  Cluster cluster = nodes_of(3);
  cluster.transport.connection_cap_Bps = 0.2e9;
  // Two messages of one connection share its cap. The NIC has bandwidth left for another
  // connection.
  const Results results = run(cluster, {{0, 0, 1, kMB}, {0, 0, 1, kMB}, {0, 0, 2, kMB}});
  EXPECT_NEAR(results.end_s[0], 2 * kMB / 0.2e9, 2e-4);
  EXPECT_NEAR(results.end_s[1], 2 * kMB / 0.2e9, 2e-4);
  EXPECT_NEAR(results.end_s[2], kMB / 0.2e9, 2e-4);
}

TEST(SharedLinks, MessagesToOneselfShareNoLink) {
  const Results results = run(nodes_of(2), {{1, 0, 0, kMB}, {1, 0, 0, kMB}, {0, 0, 1, kMB}});
  EXPECT_NEAR(results.end_s[0], 1 + kMB / 100e9, 1e-12);  // the memory's bandwidth
  EXPECT_NEAR(results.end_s[1], 1 + kMB / 100e9, 1e-12);
  EXPECT_NEAR(results.end_s[2], kMB / 1e9, 1e-9);
}

TEST(SharedLinks, AnEmptyMessageEndsAtOnce) {
  EXPECT_EQ(run(nodes_of(2), {{2, 0, 1, 0}}).end_s[0], 2);
}

TEST(SharedLinks, IdleTimeIsNotSaved) {
  // A link that has been idle for long is not faster afterwards.
  const Results results = run(nodes_of(2), {{0, 0, 1, kMB}, {5, 0, 1, kMB}});
  EXPECT_NEAR(results.end_s[1] - 5, results.end_s[0], 1e-9);
}

TEST(SharedLinks, AShortMessageDoesNotWaitForALongOne) {
  const Results results = run(nodes_of(2), {{0, 0, 1, 100 * kMB}, {1e-3, 0, 1, kMB}});
  EXPECT_NEAR(results.end_s[1] - 1e-3, 2 * kMB / 1e9, 1.1e-4);
  EXPECT_NEAR(results.end_s[0], 101 * kMB / 1e9, 1e-9);
}

/// Random messages that share NICs and links of the topology.
std::vector<Sent> draw(std::uint32_t seed, int ranks) {
  std::mt19937 generator(seed);
  std::vector<Sent> messages;
  const auto number = [&](int below) { return static_cast<int>(generator() % unsigned(below)); };
  for (int i = 0; i < ranks; ++i) {
    const int source = number(ranks), destination = (source + 1 + number(ranks - 1)) % ranks;
    messages.push_back({1e-3 * number(3), source, destination, kMB * (20 + number(80))});
  }
  return messages;
}

std::vector<NamedCluster> networks() {
  const auto narrow = [](Json topology) {
    topology["bandwidth"] = "300MB/s";
    return topology;
  };
  Cluster bridged = nodes_of(4, 4);
  bridged.intra.kind = IntraKind::pcie;
  return {{"flat", nodes_of(4, 4)},
          {"bridged", bridged},
          {"fat_tree", cluster_with_topology(narrow({{"kind", "fat_tree"}, {"k", 4}}), 16)},
          {"torus", cluster_with_topology(narrow({{"kind", "torus"}, {"dimensions", {4, 4}}}), 16)},
          {"wan", cluster_with_topology(wan_options(4, 4), 16)}};
}

constexpr double kSlices_s = 4 * threads::SharedLinks::kShortestSlice_s;

TEST(SharedLinks, SharesAreMaxMinFairOnEveryNetwork) {
  for (const auto& [name, cluster] : networks()) {
    const auto network = make_network(cluster);
    std::vector<double> bandwidth;
    for (const Link& link : network->links()) bandwidth.push_back(link.bandwidth_Bps);
    for (std::uint32_t seed = 0; seed < 2; ++seed) {
      const auto messages = draw(seed, cluster.ranks());
      std::vector<Flow> flows;
      for (const Sent& m : messages) {
        std::vector<LinkId> route;
        network->route(m.source, m.destination, route);
        Flow flow{m.start_s, m.nbytes, {}};
        for (const LinkId id : route)
          if (!network->link(id).unlimited()) flow.links.push_back(static_cast<std::size_t>(id));
        flows.push_back(flow);
      }
      const auto expected = max_min_ends(bandwidth, flows);
      const Results results = run(cluster, messages);
      EXPECT_FALSE(results.earlier_than_predicted) << name;
      for (std::size_t i = 0; i < messages.size(); ++i) {
        const double expected_s = expected[i] - messages[i].start_s;
        // Equal up to slices: some messages that share a link are one slice ahead.
        EXPECT_NEAR(results.end_s[i], expected[i], 0.02 * expected_s + kSlices_s) << name;
      }
    }
  }
}

TEST(SharedLinks, EveryLinkCarriesTheBytesOfItsRoutes) {
  for (const auto& [name, cluster] : networks()) {
    const auto network = make_network(cluster);
    const auto messages = draw(1, cluster.ranks());
    std::vector<double> expected(network->links().size());
    for (const Sent& m : messages) {
      std::vector<LinkId> route;
      network->route(m.source, m.destination, route);
      for (const LinkId id : route)
        if (!network->link(id).unlimited()) expected[static_cast<std::size_t>(id)] += m.nbytes;
    }
    const Results results = run(cluster, messages);
    for (std::size_t id = 0; id < expected.size(); ++id) {
      EXPECT_NEAR(results.carried[id], expected[id], 1e-6) << name << ", link " << id;
      for (const double end_s : results.end_s) EXPECT_GE(end_s, 0) << name;
    }
    // No link was faster than its bandwidth.
    const double last_s = std::ranges::max(results.end_s);
    for (std::size_t id = 0; id < expected.size(); ++id)
      EXPECT_GE(last_s, (1 - 1e-9) * expected[id] / network->links()[id].bandwidth_Bps) << name;
  }
}

}  // namespace
}  // namespace trigram::test::shared_links_test
