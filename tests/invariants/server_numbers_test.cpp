#include <gtest/gtest.h>

#include "tests/support/expect_volume.h"

// The traffic of parameter servers, and the times that it takes on their links, in explicit
// numbers.

namespace trigram::test::server_numbers_test {
namespace {

constexpr std::uint64_t kAcknowledgement = 112, kRequest = 120;  // in bytes

/// The number of partitions of at most 4,096,000 bytes.
std::uint64_t partitions_of(const Trained& trained) {
  constexpr std::uint64_t kPartition = 4'096'000;
  std::uint64_t partitions = 0;
  for (const std::size_t n : trained.buckets) partitions += (4 * n + kPartition - 1) / kPartition;
  return partitions;
}

/// A worker that does not serve sends the model once per step, and the only server sends it to
/// every worker. In addition, each partition has one request and one acknowledgement.
TEST(ServerVolumeByTheNumbers, OneServerOfBertLarge) {
  Training training;
  training.algorithm = {{"name", "parameter_server"}, {"servers", 1}};
  training.workload = "bert_large";
  training.cluster = small_cluster(8, 1);
  training.steps = 2;
  const Trained trained = train(training);
  constexpr std::uint64_t kModel = 4u * 334'094'338u;
  const std::uint64_t partitions = partitions_of(trained);
  EXPECT_EQ(sent_by(trained.counters.at(0)).bytes_inter,
            2 * 7 * (kModel + partitions * kAcknowledgement));
  for (std::size_t rank = 1; rank < 8; ++rank)
    EXPECT_EQ(sent_by(trained.counters[rank]).bytes_inter, 2 * (kModel + partitions * kRequest));
}

/// BytePS's partitions of VGG16, with a server on each of two machines. The machine that does not
/// serve a partition pushes it, requests it, and receives it back. Only leaders do so.
TEST(ServerVolumeByTheNumbers, BytePsPartitionsOfVgg16) {
  Training training;
  training.algorithm = {{"name", "parameter_server"},
                        {"bucket", "0B"},
                        {"partition", "4096000B"},
                        {"hierarchical", true}};
  training.workload = "vgg16";
  training.cluster = small_cluster(2, 2);
  training.steps = 1;
  const Trained trained = train(training);
  const std::uint64_t partitions = partitions_of(trained);
  // Numbers of partitions: fc6 has 101, fc7 17, fc8 4; five convolutions of 9.4 MB have 3 each, one
  // of 4.7 MB has 2; the 23 others have 1 each.
  EXPECT_EQ(partitions, 101u + 17 + 4 + 5 * 3 + 2 + 23);
  std::uint64_t sent = 0;
  for (const std::size_t rank : {0u, 2u}) sent += sent_by(trained.counters.at(rank)).messages_inter;
  EXPECT_EQ(sent, 4 * partitions) << "pushes, acknowledgements, requests, answers";
  for (const std::size_t rank : {1u, 3u})
    EXPECT_EQ(sent_by(trained.counters.at(rank)).messages_inter, 0u);
}

/// The load that BytePS's hash gives each of 16 servers of VGG16, whose tensors are declared in the
/// order of their names; computed by a separate script. The largest load is 1.7 times the mean.
constexpr std::uint64_t kVgg16[] = {
    57'344'000, 46'630'912, 34'016'256, 32'787'968, 28'680'960, 20'004'864, 12'290'048, 12'288'000,
    14'127'008, 25'755'904, 31'031'296, 34'013'184, 41'254'912, 50'397'440, 54'019'584, 58'787'840};

Training hashed_vgg16() {
  Training training;
  training.algorithm = {{"name", "parameter_server"},
                        {"assignment", "djb2"},
                        {"bucket", "0B"},
                        {"acknowledged", false}};
  training.workload = "vgg16";
  training.cluster = small_cluster(16);
  training.steps = 1;
  return training;
}

TEST(ServerVolumeByTheNumbers, LoadsOfVgg16HashedBySortedNames) {
  constexpr std::uint64_t kModel = 4u * 138'357'544;
  const Trained trained = train(hashed_vgg16());
  ASSERT_EQ(trained.counters.size(), 16u);
  for (std::size_t rank = 0; rank < 16; ++rank)
    EXPECT_EQ(sent_by(trained.counters[rank]).bytes_inter,
              kModel - kVgg16[rank] + 15 * kVgg16[rank])
        << rank;
}

/// The server with the largest load is always busy and waits for no other server. In each direction
/// its link carries its load for 15 workers and, because the server is also a worker, the rest of
/// the model once. If each stage of a partition has its own stream, workers push without waiting
/// for answers, so that the server's inbound link is fully loaded before its outbound link is.
TEST(ServerVolumeByTheNumbers, TheMostLoadedServersLinkIsTheBottleneck) {
  constexpr double kModel = 4.0 * 138'357'544, kFullest = kVgg16[15], kForward_s = 0.0486;
  Training training = hashed_vgg16();
  const double bound = kForward_s + (kModel + 14 * kFullest) / training.cluster.inter.bandwidth_Bps;
  const double hashed_s = train(training).seconds();
  EXPECT_GT(hashed_s, bound);
  EXPECT_LT(hashed_s, 1.15 * bound);
  training.algorithm["acknowledged"] = true;
  const double acknowledged_s = train(training).seconds();
  EXPECT_GT(acknowledged_s, bound);
  EXPECT_LT(acknowledged_s, 1.25 * bound);
  training.algorithm["assignment"] = "round_robin";
  EXPECT_LT(train(training).seconds(), hashed_s);
}

/// Two servers beside six workers, each on one of four nodes. Ranks that serve compute nothing.
/// Each sends its half of the model, and acknowledgements, to all workers.
TEST(ServerVolumeByTheNumbers, ServersBesideSixWorkers) {
  Training training;
  training.algorithm = {
      {"name", "parameter_server"}, {"servers", 2}, {"placement", "beside"}, {"bucket", "0B"}};
  training.workload = {{"name", "quadratic"}, {"dimension", 1000}, {"tensors", 2}};
  training.cluster = small_cluster(2, 4);
  training.steps = 1;
  const Trained trained = train(training);
  training.steps = 2;
  const Trained longer = train(training);
  const auto step_compute_s = [&](std::size_t rank) {
    return longer.counters.at(rank).compute_s - trained.counters.at(rank).compute_s;
  };
  ASSERT_EQ(trained.buckets, (std::vector<std::size_t>{500, 500}));
  EXPECT_EQ(workers_of(training), (std::vector<int>{0, 1, 2, 4, 5, 6}));
  for (const std::size_t rank : {3u, 7u}) {
    EXPECT_EQ(sent_by(trained.counters.at(rank)), (Sent{3 * 2112, 3 * 2112, 6, 6}));
    EXPECT_NEAR(step_compute_s(rank), 0, 1e-12);
  }
  for (const std::size_t rank : {0u, 1u, 2u, 4u, 5u, 6u}) {
    EXPECT_EQ(sent_by(trained.counters.at(rank)), (Sent{2120, 2120, 2, 2}));
    EXPECT_GT(step_compute_s(rank), 1e-9);
  }
}

/// In each direction, a server's link carries its partitions for P-1 workers and, because it is
/// also a worker, the partitions of other servers once: (P-2+k)/k models. The step takes little
/// longer than that, for any number of servers.
TEST(ServerVolumeByTheNumbers, TheServersLinksAreTheBottleneck) {
  constexpr double kRanks = 8, kModel = 4.0 * 334'094'338;
  Training training;
  training.workload = "bert_large";
  training.cluster = small_cluster(8, 1);
  training.steps = 1;
  for (const int servers : {1, 2, 4, 8}) {
    training.algorithm = {{"name", "parameter_server"}, {"servers", servers}};
    const double bound =
        (kRanks - 2 + servers) / servers * kModel / training.cluster.inter.bandwidth_Bps;
    const double seconds = train(training).seconds();
    EXPECT_GT(seconds, bound) << servers;
    EXPECT_LT(seconds, 1.15 * bound) << servers;
  }
}

}  // namespace
}  // namespace trigram::test::server_numbers_test
