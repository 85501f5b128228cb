// Workers, connections and nodes that differ from one another, compared with the distribution that
// they follow.
#include "netmodels/variation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "netmodels/cluster_network.h"
#include "netmodels/machines.h"
#include "tests/support/clusters.h"

namespace trigram::test::variation_test {
namespace {

using ::testing::HasSubstr;

/// Inverts the C library's error function by bisection.
double quantile(double share) {
  double low = -10, high = 10;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2)) < share ? low : high) = middle;
  }
  return low;
}

TEST(Variation, NormalQuantilesMatchTheErrorFunction) {
  for (const double share : {1e-6, 0.01, 0.118, 0.25, 0.5, 0.6, 0.975, 1 - 1e-6})
    EXPECT_NEAR(normal_quantile(share), quantile(share), 4.5e-4) << share;
}

/// The logarithms of the workers' time factors, in units of the variation.
std::vector<double> deviations(int workers, double variation) {
  std::vector<double> z;
  for (int rank = 0; rank < workers; ++rank)
    z.push_back(std::log(worker_time_factor(variation, rank)) / variation);
  return z;
}

TEST(Variation, WorkersFollowTheDistribution) {
  for (const double variation : {0.01, 0.1, 0.5}) {
    std::vector<double> z = deviations(1024, variation);
    std::sort(z.begin(), z.end());
    for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95})
      EXPECT_NEAR(z[static_cast<std::size_t>(share * 1024)], quantile(share), 0.02) << share;
  }
}

/// For any number n of workers, the time factor of the slowest is about the mean of the largest of
/// n random draws.
TEST(Variation, AnyNumberOfWorkersIsSpreadEvenly) {
  for (int workers = 2; workers <= 300; ++workers) {
    const std::vector<double> z = deviations(workers, 0.1);
    EXPECT_NEAR(*std::max_element(z.begin(), z.end()), quantile(1 - 0.56 / workers), 0.6)
        << workers;
  }
}

TEST(Variation, NothingVariesByDefault) {
  EXPECT_EQ(worker_time_factor(0, 3), 1);
  EXPECT_EQ(node_throughput_factor(0, 3), 1);
  EXPECT_EQ(connection_throughput_factor(0, {.source_node = 1}), 1);
}

TEST(Variation, MultipliesTheFactorOfSlowWorkers) {
  Cluster cluster;
  cluster.nodes = 4;
  cluster.worker_variation = 0.1;
  cluster.slow_workers = {{2, 3}};
  const auto machines = make_machine_model(cluster);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_DOUBLE_EQ(machines->compute_factor(rank, 7),
                     worker_time_factor(0.1, rank) * (rank == 2 ? 3 : 1));
  EXPECT_EQ(machine_period(cluster), 1) << "the same in every step";
}

/// The slowest connection in a ring of nodes, each of which sends to the next.
double slowest_of_ring(Cluster cluster, int nodes) {
  cluster.nodes = nodes;
  const auto network = make_network(cluster);
  double slowest_Bps = Transport::kUnlimited;
  for (int node = 0; node < nodes; ++node)
    slowest_Bps = std::min(slowest_Bps, network->bandwidth(node, (node + 1) % nodes));
  return slowest_Bps;
}

/// The slowest of n connections delays the whole ring.
TEST(Variation, LongRingsHaveSlowerConnections) {
  Cluster cluster;
  cluster.transport.connection_cap_Bps = 1e9;
  EXPECT_EQ(slowest_of_ring(cluster, 4), 1e9);
  cluster.transport.variation = 0.3;
  double before_Bps = 1e9;
  for (int nodes = 2; nodes <= 300; ++nodes) {
    const double Bps = slowest_of_ring(cluster, nodes);
    EXPECT_NEAR(std::log(Bps / 1e9) / 0.3, quantile(0.56 / nodes), 0.5) << nodes;
    EXPECT_LE(Bps, before_Bps) << nodes;
    before_Bps = Bps;
  }
  EXPECT_LT(slowest_of_ring(cluster, 16), slowest_of_ring(cluster, 4));
}

TEST(Variation, TheSoftwareOfNodesDiffers) {
  Cluster cluster;
  cluster.inter.bandwidth_Bps = 100e9;
  cluster.transport.node_cap_Bps = 1e9;
  cluster.transport.variation = 0.3;
  cluster.nodes = 3;
  const auto network = make_network(cluster);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      if (a == b) continue;
      EXPECT_DOUBLE_EQ(network->bandwidth(a, b), 1e9 * std::min(node_throughput_factor(0.3, a),
                                                                node_throughput_factor(0.3, b)));
    }
}

/// One half of the nodes sends to the other half, so the slower half determines the time.
TEST(Variation, TheSlowerHalfLimitsTheBisection) {
  Cluster cluster;
  cluster.nodes = 4;
  cluster.inter.bandwidth_Bps = 100e9;
  cluster.transport.node_cap_Bps = 1e9;
  EXPECT_EQ(make_network(cluster)->bisection().bandwidth_Bps, 2e9);
  cluster.transport.variation = 1;
  std::vector<double> nodes;
  for (int node = 0; node < 4; ++node) nodes.push_back(1e9 * node_throughput_factor(1, node));
  std::sort(nodes.begin(), nodes.end());
  EXPECT_DOUBLE_EQ(make_network(cluster)->bisection().bandwidth_Bps, nodes[0] + nodes[1]);
}

TEST(Variation, OfTheTransportHasNoEffectWithoutCaps) {
  Cluster cluster;
  cluster.nodes = 3;
  const double plain_Bps = make_network(cluster)->bandwidth(0, 2);
  cluster.transport.variation = 0.5;
  EXPECT_EQ(make_network(cluster)->bandwidth(0, 2), plain_Bps);
}

TEST(Variation, ErrorsHaveJsonPointers) {
  EXPECT_THAT(error_of(R"({"worker_variation": -0.1})"), HasSubstr("/cluster/worker_variation"));
  EXPECT_THAT(error_of(R"({"transport": {"variation": 3}})"),
              HasSubstr("/cluster/transport/variation"));
  EXPECT_THAT(error_of(R"({"transport": {"variation": 0.3, "stream_cap": "1GB/s"}})"),
              HasSubstr("/cluster/transport/variation: has no effect here; expected "
                        "connection_cap or node_cap"));
}

}  // namespace
}  // namespace trigram::test::variation_test
