// Bagua-Net's published allreduce bandwidths, reproduced by one description of the transport in
// which only the number of streams changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "core/device/null_device.h"
#include "tests/support/simulate.h"

namespace trigram::test::bagua_net_test {
namespace {

// The figure does not give the number of machines; these numbers are from Bagua-Net's README.
constexpr int kNodes = 4, kWorkers = 8, kRanks = kNodes * kWorkers;
constexpr int kStages = 2 * (kRanks - 1);
constexpr double kShare = 1.0 / kRanks;  // fraction of the tensor in each message of a ring

/// The duration in seconds of an allreduce of `bytes`.
struct Point {
  double bytes, one_stream_s, two_streams_s;
};

std::vector<Point> published() {
  std::ifstream file(TRIGRAM_TEST_DATA "/bagua_net_allreduce.csv");
  std::vector<Point> points;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    double bytes = 0, one_GBps = 0, two_GBps = 0;
    char comma = 0;
    if (fields >> bytes >> comma >> one_GBps >> comma >> two_GBps)
      points.push_back({bytes, bytes / one_GBps / 1e9, bytes / two_GBps / 1e9});
  }
  return points;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// The time of a stage without its bytes, and the bandwidth of its messages.
struct Stage {
  double seconds = 0, Bps = 0;
};
/// From 16 MiB on the time is proportional to the bytes; up to 1 MiB it hardly depends on them.
Stage fit(const std::vector<Point>& points, double Point::*time) {
  std::vector<double> bandwidths, rests;
  for (const Point& p : points)
    if (p.bytes >= 1 << 24) bandwidths.push_back(kStages * kShare * p.bytes / (p.*time));
  const double Bps = std::accumulate(bandwidths.begin(), bandwidths.end(), 0.0) /
                     static_cast<double>(bandwidths.size());
  for (const Point& p : points)
    if (p.bytes <= 1 << 20) rests.push_back((p.*time) / kStages - kShare * p.bytes / Bps);
  return {median(rests), Bps};
}

Cluster described(const std::vector<Point>& points) {
  const Stage one = fit(points, &Point::one_stream_s), two = fit(points, &Point::two_streams_s);
  Cluster cluster = round_cluster(kNodes, kWorkers);
  cluster.inter = {12.5e9, 0};
  cluster.intra = {150e9, 0};
  cluster.accelerator = {"none", 1e30, 1e30, 0};
  cluster.transport.message_overhead_s = one.seconds;
  cluster.transport.stream_cap_Bps = one.Bps;
  cluster.transport.stream_overhead_s = (two.seconds - one.seconds) / 2;
  cluster.transport.node_cap_Bps = two.Bps;  // less than two streams could move together
  return cluster;
}

double allreduce_s(Cluster cluster, int streams, double bytes) {
  cluster.transport.streams = streams;
  return latest_end_s(simulate(cluster, [&](Context ctx) {
    const auto numel = static_cast<std::size_t>(bytes / sizeof(float));
    NullDevice phantoms;
    ctx.device = &phantoms;
    ring_allreduce(ctx, Tensor::phantom(numel, DType::f32, numel), Reduce::sum);
    return ctx.stream->now();
  }));
}

/// The index of the first size at which two streams are at least as fast as one.
template <class OneS, class TwoS>
std::size_t crossover(std::size_t sizes, OneS one_s, TwoS two_s) {
  std::size_t i = 0;
  while (i < sizes && one_s(i) < two_s(i)) ++i;
  return i;
}

TEST(BaguaNet, IsReproduced) {
  const std::vector<Point> points = published();
  ASSERT_EQ(points.size(), 13);
  const Cluster cluster = described(points);
  std::vector<double> one_s, two_s;
  double squares = 0, largest = 0;
  for (const Point& p : points) {
    one_s.push_back(allreduce_s(cluster, 1, p.bytes));
    two_s.push_back(allreduce_s(cluster, 2, p.bytes));
    for (const double ratio : {one_s.back() / p.one_stream_s, two_s.back() / p.two_streams_s}) {
      squares += std::log(ratio) * std::log(ratio);
      largest = std::max(largest, std::abs(std::log(ratio)));
    }
  }
  // One stream is faster below a certain size, and two streams above it. That size must lie between
  // the same two points.
  const auto simulated = crossover(
      points.size(), [&](std::size_t i) { return one_s[i]; },
      [&](std::size_t i) { return two_s[i]; });
  EXPECT_EQ(points[simulated].bytes, 8 << 20);
  EXPECT_EQ(simulated, crossover(
                           points.size(), [&](std::size_t i) { return points[i].one_stream_s; },
                           [&](std::size_t i) { return points[i].two_streams_s; }));
  EXPECT_LT(two_s.back(), one_s.back() / 1.5);
  // The published curves have steps at which NCCL changes its protocol; a model with four numbers
  // has none.
  EXPECT_LT(std::sqrt(squares / (2 * static_cast<double>(points.size()))), 0.17);
  EXPECT_LT(largest, 0.45);
}

}  // namespace
}  // namespace trigram::test::bagua_net_test
