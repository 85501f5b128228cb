#include "algorithms/collectives/nccl_choice.h"

#include <gtest/gtest.h>

namespace trigram::nccl_choice_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr NcclAlgorithm kTree = NcclAlgorithm::tree, kRing = NcclAlgorithm::ring;

/// 16 nodes of 8 V100s, which are connected by one NIC each.
NcclView nodes_of_eight(double nic_Bps) {
  return {.nodes = 16, .workers = 8, .node_Bps = nic_Bps, .worker_Bps = 150e9};
}

// Computed by hand from the published constants: 30 hops between nodes, 224 hops inside them, 4
// levels.

TEST(NcclChoice, RingsTakeAllHopsAndTwiceTheBytesLessTheOwnPart) {
  const NcclView view = nodes_of_eight(12.5e9);
  const double bytes = 10.0 * kMiB, share = 254.0 / 128;
  EXPECT_NEAR(nccl_time_s(view, kRing, NcclProtocol::ll, 10 * kMiB),
              1e-6 * (6.6 + 224 * 1 + 30 * 2.7) + share * bytes / (12.5e9 / 2), 1e-12);
  EXPECT_NEAR(nccl_time_s(view, kRing, NcclProtocol::ll128, 10 * kMiB),
              1e-6 * (14 + 224 * 1.9 + 30 * 4) + share * bytes / (12.5e9 * 0.92), 1e-12);
  EXPECT_NEAR(nccl_time_s(view, kRing, NcclProtocol::simple, 10 * kMiB),
              1.9e-6 * (8.4 + 224 * 3.4 + 30 * 14) + share * bytes / 12.5e9, 1e-12);
}

TEST(NcclChoice, TreesTakeTheirLevelsAndTwiceTheBytes) {
  const NcclView view = nodes_of_eight(12.5e9);
  const double bytes = 10.0 * kMiB;  // the correction for 8 MiB applies
  EXPECT_NEAR(nccl_time_s(view, kTree, NcclProtocol::ll, 10 * kMiB),
              1e-6 * (6.8 + 2 * (7 * 0.6 + 4 * 5)) + 2 * bytes / (12.5e9 * 0.92 / 3.8 * 0.8),
              1e-12);
  EXPECT_NEAR(
      nccl_time_s(view, kTree, NcclProtocol::ll128, 10 * kMiB),
      1e-6 * (14 + 2 * (7 * 1.25 + 4 * 8.5)) + 2 * bytes / (12.5e9 * 0.92 * 120 / 128 * 0.9),
      1e-12);
  EXPECT_NEAR(nccl_time_s(view, kTree, NcclProtocol::simple, 10 * kMiB),
              1e-6 * (8.4 + 2 * (7 * 4 + 4 * 14)) + 2 * bytes / (12.5e9 * 0.92 * 0.8), 1e-12);
}

TEST(NcclChoice, PlateausAreLowerOnNewerGpusAndAbsentForShortVectors) {
  NcclView view = nodes_of_eight(12.5e9);
  const double hops_s = 1e-6 * (8.4 + 224 * 3.4 + 30 * 14);
  const auto latency_s = [&](std::size_t nbytes) {
    return nccl_time_s(view, kRing, NcclProtocol::simple, nbytes) -
           254.0 / 128 * static_cast<double>(nbytes) / 12.5e9;
  };
  EXPECT_NEAR(latency_s(64 * 2 * 128 - 1), hops_s, 1e-12);
  EXPECT_NEAR(latency_s(64 * 2 * 128), 1.9 * hops_s, 1e-12);
  view.compute_capability = 80;
  EXPECT_NEAR(latency_s(64 * 2 * 128), 1.4 * hops_s, 1e-12);
  view = {.nodes = 1, .workers = 8, .worker_Bps = 150e9};
  EXPECT_NEAR(nccl_time_s(view, kRing, NcclProtocol::simple, 0), 1e-6 * (8.4 + 14 * 3.4), 1e-12);
}

/// A ring of single workers pays a tree's latency for each of its hops.
TEST(NcclChoice, RingsOfSingleWorkersPayTheLatencyOfTrees) {
  const NcclView view = {.nodes = 8, .workers = 1, .node_Bps = 1.25e9, .worker_Bps = 150e9};
  EXPECT_NEAR(nccl_time_s(view, kRing, NcclProtocol::ll, 0), 1e-6 * (6.6 + 14 * 5), 1e-12);
  EXPECT_NEAR(nccl_time_s(view, kTree, NcclProtocol::ll, 0), 1e-6 * (6.8 + 2 * 3 * 5), 1e-12);
}

TEST(NcclChoice, TreesForShortVectorsAndFastNetworks) {
  EXPECT_EQ(nccl_choice(nodes_of_eight(12.5e9), 64 << 10), kTree);
  EXPECT_EQ(nccl_choice(nodes_of_eight(12.5e9), 10 * kMiB), kTree);
  EXPECT_EQ(nccl_choice(nodes_of_eight(12.5e9), 1024 * kMiB), kRing);
  EXPECT_EQ(nccl_choice(nodes_of_eight(1.25e9), 10 * kMiB), kRing);
  EXPECT_EQ(nccl_choice(nodes_of_eight(1.25e9), 64 << 10), kTree);
}

/// PCIe has no LL128, and its hops take longer.
TEST(NcclChoice, LinksInsideNodesMatter) {
  NcclView view = {.nodes = 1, .workers = 8, .worker_Bps = 12e9, .nvlink = false};
  EXPECT_NEAR(nccl_time_s(view, kRing, NcclProtocol::simple, 0), 1e-6 * (8.4 + 14 * 5.7), 1e-12);
  EXPECT_NEAR(nccl_time_s(view, kTree, NcclProtocol::ll, 0), 1e-6 * (6.8 + 14 * 1), 1e-12);
  view.nvlink = true;
  EXPECT_NEAR(nccl_time_s(view, kRing, NcclProtocol::simple, 0), 1e-6 * (8.4 + 14 * 3.4), 1e-12);
}

TEST(NcclChoice, OneRankHasNothingToChoose) {
  EXPECT_EQ(nccl_choice({.nodes = 1, .workers = 1}, kMiB), kRing);
}

/// The bandwidth of a port inside a node limits a ring that crosses it.
TEST(NcclChoice, TheSlowerLinkLimitsTheBandwidth) {
  NcclView view = nodes_of_eight(12.5e9);
  view.worker_Bps = 5e9;
  const double bytes = 100.0 * kMiB;
  EXPECT_NEAR(nccl_time_s(view, kRing, NcclProtocol::simple, 100 * kMiB) -
                  nccl_time_s(view, kRing, NcclProtocol::simple, 64 * 2 * 128),
              254.0 / 128 * (bytes - 64 * 2 * 128) / 5e9, 1e-12);
}

}  // namespace
}  // namespace trigram::nccl_choice_test
