// Cluster descriptions: parsing, checks, closed forms, lower bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "netmodels/cluster_network.h"
#include "netmodels/machines.h"
#include "netmodels/network/lower_bound.h"
#include "tests/support/clusters.h"
#include "tests/support/networks.h"

namespace trigram::cluster_test {
namespace {

using test::cluster_of;
using test::error_of;
using test::two_by_two;
using testing::HasSubstr;

TEST(Cluster, is_parsed_in_base_units) {
  const Cluster c = two_by_two();
  EXPECT_EQ(c.ranks(), 4);
  EXPECT_EQ(c.inter.bandwidth_Bps, 1e9);
  EXPECT_EQ(c.inter.latency_s, 10e-6);
  EXPECT_EQ(c.intra.bandwidth_Bps, 10e9);
  EXPECT_EQ(c.accelerator.memory_Bps, 100e9);
}

TEST(Cluster, survives_a_round_trip) {
  const Json dumped = cluster_fields().dump(two_by_two());
  EXPECT_EQ(cluster_fields().dump(parse_cluster(dumped, "")), dumped);
}

TEST(Cluster, survives_a_round_trip_with_each_topology) {
  for (const char* text :
       {R"({"nodes": 4, "workers_per_node": 2, "nics": "per_worker",
            "topology": {"kind": "torus", "dimensions": [2, 2], "bandwidth": "1Gbps"}})",
        R"({"nodes": 16, "topology": {"kind": "fat_tree", "k": 4, "latency": "1us"},
            "intra": {"bandwidth": "1GB/s", "latency": "1us", "kind": "pcie"}})",
        R"({"nodes": 4, "topology": {"kind": "fat_tree", "nodes_per_leaf": 2}})",
        R"({"nodes": 2, "topology": {"kind": "wan", "delay_is": "one_way",
            "regions": [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 1}],
            "delay": [[null, "1ms"], ["2ms", null]],
            "bandwidth": [[null, "1Gbps"], ["2Gbps", null]]}})"}) {
    const Cluster c = cluster_of(text);
    const Json dumped = cluster_fields().dump(c);
    EXPECT_EQ(cluster_fields().dump(parse_cluster(dumped, "")), dumped);
    EXPECT_EQ(dumped.at("topology").at("kind"), c.topology.kind);
  }
  EXPECT_EQ(cluster_fields().dump(cluster_of("{}")).at("topology"), Json({{"kind", "flat"}}));
}

TEST(Cluster, accepts_the_name_of_a_topology) {
  EXPECT_EQ(cluster_of(R"({"topology": "flat"})").ranks(), 1);
}

TEST(Wan, has_a_delay_of_one_way_or_half_a_round_trip) {
  const auto latency = [](const char* delay_is) {
    Json j = Json::parse(R"({"nodes": 2, "inter": {"bandwidth": "1Gbps", "latency": "1ms"},
        "topology": {"kind": "wan",
                     "regions": [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 1}],
                     "delay": [[null, "30ms"], ["30ms", null]],
                     "bandwidth": [[null, "1Gbps"], ["1Gbps", null]]}})");
    j["topology"]["delay_is"] = delay_is;
    return make_network(parse_cluster(j, ""))->latency(0, 1);
  };
  EXPECT_DOUBLE_EQ(latency("one_way"), 31e-3);
  EXPECT_DOUBLE_EQ(latency("round_trip"), 16e-3);
}

TEST(Wan, has_access_links_whose_directions_differ) {
  const Cluster cluster =
      test::cluster_with_topology(test::with_access_links(test::wan_options(2, 2), {7}, {11}), 4);
  const auto network = make_network(cluster);
  EXPECT_EQ(network->bandwidth(0, 2), 7e6);
  EXPECT_EQ(network->bandwidth(3, 1), 11e6);
  EXPECT_EQ(network->bandwidth(0, 1), 1e9);  // inside a region
  EXPECT_EQ(network->latency(0, 2), network->latency(2, 0));
}

TEST(Cluster, has_defaults) { EXPECT_EQ(cluster_of("{}").ranks(), 1); }

TEST(Cluster, errors_have_json_pointers) {
  EXPECT_THAT(error_of(R"({"workers": 2})"), HasSubstr("/cluster/workers"));
  EXPECT_THAT(error_of(R"({"nodes": 0})"), HasSubstr("/cluster/nodes"));
  EXPECT_THAT(error_of(R"({"inter": {"bandwidth": "10Gbps"}})"),
              HasSubstr("/cluster/inter/latency: missing"));
  EXPECT_THAT(error_of(R"({"inter": {"bandwidth": "0Gbps", "latency": "1us"}})"),
              HasSubstr("/cluster/inter/bandwidth"));
  EXPECT_THAT(error_of(R"({"inter": {"bandwidth": 10, "latency": "1us"}})"),
              HasSubstr("/cluster/inter/bandwidth"));
  EXPECT_THAT(error_of(R"({"nodes": 2, "slow_workers": [{"rank": 1, "factor": 2},
                                                        {"rank": 2, "factor": 2}]})"),
              HasSubstr("/cluster/slow_workers/1/rank: expected a rank below 2"));
  EXPECT_THAT(error_of(R"({"nodes": 2, "slow_workers": [{"rank": 1, "factor": 2},
                                                        {"rank": 1, "factor": 3}]})"),
              HasSubstr("/cluster/slow_workers/1/rank: rank 1 is listed twice"));
  EXPECT_THAT(error_of(R"({"slow_workers": [{"rank": 0, "factor": 0.5}]})"),
              HasSubstr("/cluster/slow_workers/0/factor"));
  EXPECT_THAT(error_of(R"({"nodes": 1000000, "workers_per_node": 1000})"),
              HasSubstr("/cluster/workers_per_node: expected at most"));
}

TEST(Cluster, predicts_messages) {
  const auto network = make_network(two_by_two());
  EXPECT_EQ(network->latency(0, 0), 0);
  EXPECT_EQ(network->latency(0, 1), 1e-6);
  EXPECT_EQ(network->latency(1, 2), 10e-6);
  EXPECT_DOUBLE_EQ(network->message_time(0, 1, 1e6), 1e-6 + 1e-4);
  EXPECT_DOUBLE_EQ(network->message_time(1, 2, 1e6), 10e-6 + 1e-3);
}

TEST(Cluster, prices_operations_by_the_roofline_model) {
  const Accelerator a = two_by_two().accelerator;
  EXPECT_EQ(a.seconds({}), 0);
  EXPECT_DOUBLE_EQ(a.seconds({.bytes = 1e9}), 2e-6 + 1e-2);
  EXPECT_DOUBLE_EQ(a.seconds({.bytes = 1e9, .flops = 1e9}), 2e-6 + 1e-2);
  EXPECT_DOUBLE_EQ(a.seconds({.bytes = 1e9, .flops = 1e12}), 2e-6 + 1);
}

TEST(Cluster, jitter_stays_within_its_fraction_and_follows_its_seed) {
  Cluster c = two_by_two();
  c.nodes = 1000;
  c.bandwidth_jitter = 0.1;
  double least = 1e18, most = 0, sum = 0;
  for (int node = 0; node < 1000; ++node) {
    const double bandwidth = c.nic_bandwidth(node);
    least = std::min(least, bandwidth);
    most = std::max(most, bandwidth);
    sum += bandwidth;
  }
  EXPECT_GE(least, 0.9e9);
  EXPECT_LT(least, 0.91e9);
  EXPECT_LE(most, 1.1e9);
  EXPECT_GT(most, 1.09e9);
  EXPECT_NEAR(sum / 1000, 1e9, 0.01e9);
  const double drawn = c.nic_bandwidth(0);
  EXPECT_EQ(c.nic_bandwidth(0), drawn);
  c.jitter_seed = 1;
  EXPECT_NE(c.nic_bandwidth(0), drawn);
}

TEST(SlowWorkers, compute_more_slowly) {
  const auto machine = make_machine_model(two_by_two());
  EXPECT_EQ(machine->compute_factor(3, 0), 1.5);
  EXPECT_EQ(machine->compute_factor(3, 99), 1.5);
  EXPECT_EQ(machine->compute_factor(0, 0), 1);
  EXPECT_EQ(machine->delay(3, 0), 0);
}

TEST(Stragglers, have_the_given_count_in_every_step_and_are_drawn_uniformly) {
  Cluster c = two_by_two();
  c.nodes = 16;
  c.stragglers = {.count = 2, .delay_s = 0.32};
  const auto machine = make_machine_model(c);
  constexpr long kSteps = 4000;
  std::vector<double> drawn(32);  // by rank: the number of steps in which it is a straggler
  for (long step = 0; step < kSteps; ++step) {
    double sum = 0;
    for (int rank = 0; rank < 32; ++rank) {
      const double delay = machine->delay(rank, step);
      EXPECT_TRUE(delay == 0 || delay == 0.32);
      EXPECT_EQ(machine->delay(rank, step), delay);
      sum += delay;
      drawn[static_cast<std::size_t>(rank)] += delay / 0.32;
    }
    EXPECT_DOUBLE_EQ(sum, 2 * 0.32);
  }
  // Counts are binomial with mean 250 and deviation 15.3; one in 50,000 is off by more than 77.
  for (const double steps : drawn) EXPECT_NEAR(steps, kSteps * 2 / 32, 77);
  EXPECT_EQ(make_machine_model(two_by_two())->delay(3, 0), 0);
}

/// Each of 16 workers is late with probability p = 1 - (15/16)^2, independently of the others. In a
/// fraction (1 - p)^16 = 0.127 of the steps no worker is late. The number of late workers is
/// binomial.
TEST(Stragglers, may_be_drawn_independently) {
  Cluster c = two_by_two();
  c.nodes = 8;
  c.stragglers = {.count = 2, .delay_s = 0.32, .independent = true};
  const auto machine = make_machine_model(c);
  constexpr long kSteps = 4000;
  const double p = 1 - 15.0 * 15 / (16 * 16);
  std::vector<long> by_rank(16), by_number(17);
  for (long step = 0; step < kSteps; ++step) {
    std::size_t late = 0;
    for (int rank = 0; rank < 16; ++rank) {
      const double delay = machine->delay(rank, step);
      EXPECT_EQ(machine->delay(rank, step), delay);
      EXPECT_TRUE(delay == 0 || delay == 0.32);
      if (delay > 0) ++late, ++by_rank[static_cast<std::size_t>(rank)];
    }
    ++by_number[late];
  }
  const auto near = [&](long counted, double share) {  // within five standard deviations
    EXPECT_NEAR(static_cast<double>(counted), kSteps * share,
                5 * std::sqrt(kSteps * share * (1 - share)));
  };
  for (const long counted : by_rank) near(counted, p);
  near(by_number[0], std::pow(1 - p, 16));
  near(by_number[1], 16 * p * std::pow(1 - p, 15));
  near(by_number[3], 560 * std::pow(p, 3) * std::pow(1 - p, 13));
}

TEST(Stragglers, can_be_all_workers_but_no_more) {
  Cluster c = two_by_two();
  c.stragglers = {.count = 4, .delay_s = 1};
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(make_machine_model(c)->delay(rank, 5), 1);
  EXPECT_THAT(error_of(R"({"nodes": 2, "stragglers": {"count": 3, "delay": "1ms"}})"),
              HasSubstr("/cluster/stragglers/count: expected at most 2, the number of workers"));
}

TEST(LowerBound, is_the_most_loaded_link) {
  const Cluster c = two_by_two();
  std::vector<Traffic> sent(4);
  EXPECT_EQ(lower_bound(*make_network(c), sent), 0);
  sent[0] = {.bytes_intra = 1'000'000, .messages_intra = 1};
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 1e-6 + 1e-4);
  // The two ranks of node 1 share a NIC.
  sent[2] = {.bytes_inter = 1'000'000, .messages_inter = 3};
  sent[3] = {.bytes_inter = 2'000'000, .messages_inter = 1};
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 10e-6 + 3e-3);
}

TEST(LowerBound, includes_host_bridges_and_per_worker_nics) {
  Cluster c = two_by_two();
  std::vector<Traffic> sent(4);
  for (Traffic& t : sent) t = {.bytes_intra = 1'000'000, .messages_intra = 1};
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 1e-6 + 1e-4);
  c.intra.kind = IntraKind::pcie;
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 1e-6 + 2e-4);
  for (Traffic& t : sent) t = {.bytes_inter = 1'000'000, .messages_inter = 1};
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 10e-6 + 2e-3);
  c.nics = Nics::per_worker;
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 10e-6 + 1e-3);
}

/// Two nodes of two workers, whose NICs of 1 GB/s reach workers through bridges.
Cluster staged(double bridge_Bps) {
  Cluster c = two_by_two();
  c.intra.kind = IntraKind::pcie;
  c.intra.bridge_Bps = bridge_Bps;
  c.intra.gpudirect = false;
  return c;
}

TEST(Staging, passes_port_and_bridge_at_both_ends) {
  for (const Nics nics : {Nics::shared, Nics::per_worker}) {
    Cluster c = staged(0.5e9);
    c.nics = nics;
    const auto network = make_network(c);
    std::vector<LinkId> route;
    network->route(1, 2, route);
    std::vector<double> limits;
    for (const LinkId id : route)
      if (!network->link(id).unlimited()) limits.push_back(network->link(id).bandwidth_Bps);
    EXPECT_THAT(limits, testing::ElementsAre(10e9, 0.5e9, 1e9, 1e9, 0.5e9, 10e9));
    EXPECT_DOUBLE_EQ(network->message_time(1, 2, 1e6), 11e-6 + 2e-3);
    EXPECT_DOUBLE_EQ(network->message_time(0, 1, 1e6), 1e-6 + 2e-3) << "as without staging";
    // Both NICs of a node are behind its only bridge.
    EXPECT_DOUBLE_EQ(network->bisection().bandwidth_Bps, 0.5e9);
    EXPECT_EQ(network->bisection().cut, "ports and host bridges of half of the nodes");
  }
}

TEST(Staging, applies_to_nodes_of_one_worker) {
  Cluster c = staged(0.25e9);
  c.workers_per_node = 1;
  EXPECT_DOUBLE_EQ(make_network(c)->message_time(0, 1, 1e6), 11e-6 + 4e-3);
  c.intra.gpudirect = true;
  EXPECT_DOUBLE_EQ(make_network(c)->message_time(0, 1, 1e6), 10e-6 + 1e-3);
  c.intra.gpudirect = false;
  c.nodes = 1;
  EXPECT_EQ(make_network(c)->links().size(), 0u);
}

TEST(Staging, loads_the_bridge_in_the_lower_bound) {
  std::vector<Traffic> sent(4);
  sent[0] = {.bytes_intra = 1'000'000, .messages_intra = 1};
  sent[1] = {.bytes_inter = 3'000'000, .messages_inter = 1};
  Cluster c = staged(2e9);
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 11e-6 + 3e-3) << "the NIC";
  c.intra.bridge_Bps = 0.5e9;
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 1e-6 + 8e-3) << "bridge: both messages";
  c.intra.gpudirect = true;
  EXPECT_DOUBLE_EQ(lower_bound(*make_network(c), sent), 10e-6 + 3e-3);
}

TEST(Staging, requires_a_host_bridge) {
  const auto error = [](const char* kind, const char* direct) {
    return error_of(std::string(R"({"nodes": 2, "intra": {"bandwidth": "10GB/s", "latency": "1us",
                                    "kind": ")") +
                    kind + R"(", "gpudirect": )" + direct + "}}");
  };
  for (const char* direct : {"true", "false"})
    EXPECT_THAT(error("nvlink", direct), HasSubstr("/cluster/intra/gpudirect: applies only to"));
  EXPECT_THAT(error("pcie", "\"no\""), HasSubstr("/cluster/intra/gpudirect"));
}

TEST(LowerBound, counts_the_latency_of_empty_messages) {
  std::vector<Traffic> sent(4);
  sent[1].messages_inter = 1;
  EXPECT_EQ(lower_bound(*make_network(two_by_two()), sent), 10e-6);
}

}  // namespace
}  // namespace trigram::cluster_test
