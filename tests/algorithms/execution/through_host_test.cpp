#include <gtest/gtest.h>

#include "tests/support/training.h"

// Parameter servers whose tensors cross the workers' hosts, as in BytePS. The tests check the host
// time of a round, and that the messages of a round are in flight meanwhile.

namespace trigram::test::through_host_test {
namespace {

constexpr std::size_t kModel = 4 * 138'357'544;  // VGG16, in bytes
constexpr std::size_t kPartition = 40'000'000;

Training vgg16(int nodes, int workers_per_node, const Json& options) {
  Training training;
  training.algorithm = {{"name", "parameter_server"},
                        {"partition", std::to_string(kPartition) + "B"},
                        {"bucket", "1GB"},  // one bucket for everything
                        {"overlap", false}};
  training.algorithm.update(options);
  training.workload = "vgg16";
  training.cluster = small_cluster(nodes, workers_per_node);
  training.steps = 1;
  return training;
}

/// The seconds by which a step becomes longer with a host of this bandwidth.
double added_s(Training training, double host_Bps) {
  const double before_s = train(training).seconds();
  training.algorithm["through_host"] = true;
  training.cluster.accelerator.host_Bps = host_Bps;
  return train(training).seconds() - before_s;
}

/// Without a network, the worker waits for every byte, and each round is one operation. The
/// leader's broadcast inside the node overlaps with the host work of later rounds.
TEST(ThroughHost, TakesAllBytesOfANode) {
  constexpr std::size_t kRounds = (kModel + kPartition - 1) / kPartition;
  for (const int workers : {1, 3})
    for (const double host_Bps : {1e9, 5e9}) {
      const Training training = vgg16(1, workers, {{"hierarchical", true}});
      const double launches_s = kRounds * training.cluster.accelerator.launch_overhead_s;
      const double all_s = kModel / host_Bps + launches_s;
      const double hidden_s = workers > 1 ? 2 * kModel / training.cluster.intra.bandwidth_Bps : 0;
      EXPECT_LE(added_s(training, host_Bps), all_s + 1e-9) << workers;
      EXPECT_GE(added_s(training, host_Bps), all_s - hidden_s - 1e-9) << workers;
    }
}

/// There are four servers. In a round, each worker sends 3 partitions and, except in the first
/// round, receives 3 more; 4 partitions cross its host. The messages of a round take the time of 6
/// partitions at 1 GB/s.
TEST(ThroughHost, OverlapsWithMessages) {
  const Training training = vgg16(4, 1, Json::object());
  EXPECT_NEAR(added_s(training, 8e9), 0, 1e-9) << "4 / 8 is less than 3 / 1";
  const double messages_s = train(training).seconds();
  const double added_at_tenth_s = added_s(training, 0.1e9);
  // All rounds wait for the host; only the messages of the last round do not overlap with it.
  EXPECT_GT(messages_s + added_at_tenth_s, kModel / 0.1e9);
  EXPECT_LT(messages_s + added_at_tenth_s, kModel / 0.1e9 + 0.5 * messages_s);
}

/// A rank that only serves receives the pushes of all workers.
TEST(ThroughHost, IsPaidByServersForReceivedBytes) {
  const auto step_s = [](int workers) {
    Training training = vgg16(workers + 1, 1, {{"servers", 1}, {"placement", "beside"}});
    training.algorithm["through_host"] = true;
    training.cluster.accelerator.host_Bps = 0.1e9;
    return train(training).seconds();
  };
  EXPECT_NEAR(step_s(3) - step_s(2), kModel / 0.1e9, 0.05 * kModel / 0.1e9);
}

TEST(ThroughHost, LeavesWeightsAsTheyAre) {
  for (const char* world : {"sim", "threads"})
    for (const bool hierarchical : {false, true}) {
      Training training;
      training.world = world;
      training.workload = {{"name", "quadratic"}, {"dimension", 101}, {"tensors", 7}};
      training.cluster = small_cluster(3, 2);
      training.algorithm = {
          {"name", "parameter_server"}, {"partition", "24B"}, {"hierarchical", hierarchical}};
      if (hierarchical) training.algorithm["segment"] = "8B";
      const auto plain = train(training).weights;
      training.algorithm["through_host"] = true;
      ASSERT_FALSE(plain.empty());
      EXPECT_EQ(train(training).weights, plain) << world << hierarchical;
    }
}

/// In both directions a chain, like a tree, sends each partition one time less than there are
/// workers.
TEST(ThroughHost, ChainsOfPartitionsSendAsMuchAsTrees) {
  const auto traffic = [](const char* segment) {
    const Trained trained =
        train(vgg16(2, 4, {{"hierarchical", true}, {"segment", segment}, {"bucket", "0B"}}));
    std::uint64_t bytes_intra = 0, messages_intra = 0, bytes_inter = 0, messages_inter = 0;
    for (const Counters& c : trained.counters) {
      bytes_intra += c.bytes_intra;
      messages_intra += c.messages_intra;
      bytes_inter += c.bytes_inter;
      messages_inter += c.messages_inter;
    }
    return std::tuple{bytes_intra, messages_intra, bytes_inter, messages_inter};
  };
  EXPECT_EQ(traffic("40MB"), traffic("0B"));
}

}  // namespace
}  // namespace trigram::test::through_host_test
