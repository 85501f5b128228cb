#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/workloads/profile.h"
#include "tests/support/training.h"

// How systems fuse tensors: PyTorch's buckets, Horovod's buffer and cycles, and BAGUA's worker,
// which waits for each operation. The rules and times are restated here independently of the code
// under test.

namespace trigram::test::fusion_test {
namespace {

/// The gradients' lengths in the order in which they are ready: the last layer first.
std::vector<std::size_t> ready_lengths(const std::string& profile) {
  std::vector<std::size_t> lengths;
  for (const ProfileTensor& row : load_profile(profile_file(profile), "").tensors)
    lengths.insert(lengths.begin(), row.numel);
  return lengths;
}

/// PyTorch's rule. There is a list of size limits, the last of which repeats. A tensor joins the
/// open bucket. When the bucket has reached its limit it is closed, and the next limit applies.
std::vector<std::size_t> pytorch_buckets(const std::vector<std::size_t>& lengths,
                                         std::vector<std::size_t> limits) {
  std::vector<std::size_t> buckets;
  std::size_t open = 0;
  for (const std::size_t length : lengths) {
    open += length;
    if (4 * open < limits.front()) continue;
    buckets.push_back(open);
    open = 0;
    if (limits.size() > 1) limits.erase(limits.begin());
  }
  if (open > 0) buckets.push_back(open);
  return buckets;
}

Training training_of(const std::string& workload, const Json& options, int nodes = 2) {
  Training training;
  training.algorithm = {{"name", "gradient_allreduce"}};
  training.algorithm.update(options);
  training.workload = workload;
  training.cluster = small_cluster(nodes);
  training.steps = 1;
  return training;
}

std::string test_profile(const std::string& name) {
  return "profile:" + std::string(TRIGRAM_TEST_DATA) + "/" + name + ".csv";
}

TEST(FirstBucket, IsPyTorchsRuleOnVgg16) {
  const auto buckets =
      train(training_of("vgg16", {{"bucket", "25MiB"}, {"first_bucket", "1MiB"}})).buckets;
  EXPECT_EQ(buckets, pytorch_buckets(ready_lengths("vgg16"), {1u << 20, 25u << 20}));
  // Computed by hand: fc8; fc7; fc6; the last block; the block before it, with two layers of the
  // third; the rest.
  EXPECT_EQ(buckets, (std::vector<std::size_t>{4'097'000, 16'781'312, 102'764'544, 7'079'424,
                                               7'079'936, 555'328}));
}

TEST(FirstBucket, IsPyTorchsRuleOnOtherModels) {
  for (const char* model : {"resnet50", "bert_base", "gpt2"})
    for (const std::size_t first : {0u, 1u << 20, 8u << 20})
      EXPECT_EQ(train(training_of(model, {{"bucket", "25MiB"},
                                          {"first_bucket", std::to_string(first) + "B"}}))
                    .buckets,
                pytorch_buckets(ready_lengths(model), {first, 25u << 20}))
          << model << " " << first;
}

TEST(FirstBucket, HasTheSizeOfTheOtherBucketsByDefault) {
  EXPECT_EQ(train(training_of("vgg16", {{"bucket", "25MiB"}})).buckets,
            pytorch_buckets(ready_lengths("vgg16"), {25u << 20}));
}

constexpr double kReady_s = 1e-3;  // forward and backward of one_tensor_profile, in seconds
/// On each hop of a ring, the 4 ns of the only element may or may not be hidden.
constexpr double kHops_s = 50e-9;

/// The time at which the exchange of a step's only gradient begins, if the step begins at `now_s`.
/// It is in the first cycle that finds the gradient ready, after the negotiation. The period of
/// cycles is the cycle time, or the negotiation if that is longer; no cycle runs between steps.
double exchange_begins_s(double now_s, double cycle_s, double negotiation_s, double& began_s) {
  const double ready_s = now_s + kReady_s;
  if (cycle_s == 0) return ready_s + negotiation_s;
  double next_s = std::max(now_s, began_s + cycle_s);
  while (next_s < ready_s) next_s += std::max(cycle_s, negotiation_s);
  began_s = next_s;
  return began_s + negotiation_s;
}

TEST(FusionBuffer, WaitsForTheCycleAndTheNegotiation) {
  for (const int nodes : {2, 4, 8})
    for (const int negotiations : {1, 2})
      for (const double cycle_s : {0.0, 0.03e-3, 0.3e-3, 0.7e-3, 1.3e-3, 5e-3}) {
        Training training = training_of(test_profile("one_tensor_profile"), Json::object(), nodes);
        // With rendezvous messages all ranks end an exchange at the same time, and all exchanges
        // take the same time.
        training.cluster.transport.protocol = Transport::Protocol::rendezvous;
        // No number of negotiations takes as long as forward and backward, so no cycle begins
        // exactly when the gradient is ready.
        training.cluster.inter.latency_s = 23e-6;
        // The time of the exchange and the optimizer. Some preparation precedes the first step.
        const double one_s = train(training).seconds();
        training.steps = 2;
        const double exchange_s = train(training).seconds() - one_s - kReady_s;
        training.algorithm["fusion_buffer"] = {{"cycle", std::to_string(cycle_s * 1e6) + "us"},
                                               {"negotiations", negotiations}};
        training.steps = 4;
        // Recursive doubling takes one message in each direction in every round.
        const double negotiation_s =
            negotiations * std::log2(nodes) * training.cluster.inter.latency_s;
        double end_s = one_s - kReady_s - exchange_s, began_s = -1;
        for (long t = 0; t < training.steps; ++t)
          end_s = exchange_begins_s(end_s, cycle_s, negotiation_s, began_s) + exchange_s;
        EXPECT_NEAR(train(training).seconds(), end_s, kHops_s)
            << nodes << " " << negotiations << " " << cycle_s;
      }
}

/// The seconds by which a fusion buffer without cycle time lengthens a run.
double added_by_fusion_s(Training training) {
  const double before_s = train(training).seconds();
  training.algorithm["fusion_buffer"] = {{"cycle", "0s"}};
  return train(training).seconds() - before_s;
}

/// A rank beyond a power of two is represented by its partner. It gets the answer two latencies
/// later than the other ranks, and their exchange waits for it.
TEST(FusionBuffer, NegotiatesAmongAnyNumberOfRanks) {
  for (const int nodes : {3, 5, 6, 7}) {
    const Training training =
        training_of(test_profile("one_tensor_profile"), Json::object(), nodes);
    const double rounds_s = std::floor(std::log2(nodes)) * training.cluster.inter.latency_s;
    const double extra_s = added_by_fusion_s(training);
    EXPECT_GE(extra_s, rounds_s) << nodes;
    EXPECT_LE(extra_s, rounds_s + 2 * training.cluster.inter.latency_s + 1e-12) << nodes;
  }
}

/// Rounds inside nodes take only the latency inside nodes. So 8 ranks on 2 nodes agree in one round
/// of the inter-node latency.
TEST(FusionBuffer, NegotiatesAcrossNodesInLogarithmicallyManyRounds) {
  Training training = training_of(test_profile("one_tensor_profile"), Json::object());
  training.cluster = small_cluster(2, 4);
  EXPECT_NEAR(added_by_fusion_s(training),
              2 * training.cluster.intra.latency_s + training.cluster.inter.latency_s, 1e-12);
}

/// A rank that is late by more than a cycle delays the negotiation of the other ranks, but not the
/// clock of cycles. Nothing is exchanged before its gradient is ready; then the gradient is
/// exchanged in the cycle that finds it.
TEST(FusionBuffer, CyclesContinueWhileARankIsLate) {
  Training training = training_of(test_profile("one_tensor_profile"), Json::object(), 4);
  const double exchange_s = train(training).seconds() - kReady_s;
  training.algorithm["fusion_buffer"] = {{"cycle", "700us"}};
  training.cluster.slow_workers = {{2, 3}};  // ready after 3 ms; the cycle at 3.5 ms finds it
  const double latency_s = training.cluster.inter.latency_s;
  EXPECT_NEAR(train(training).seconds(), 3.5e-3 + 2 * latency_s + exchange_s, kHops_s);
}

TEST(FusionBuffer, NeedsNoNegotiationOnOneRank) {
  const Training training = training_of(test_profile("one_tensor_profile"), Json::object(), 1);
  EXPECT_NEAR(added_by_fusion_s(training), 0, 1e-15);
}

/// If the only cycle begins after backward, everything is ready, and the pieces are filled one
/// after another.
TEST(FusionBuffer, FusesReadyBucketsUpToItsSize) {
  const std::vector<std::size_t> ready = {1001, 101, 20003, 50, 5000};
  for (const std::size_t size : {1u, 4'500u, 85'000u, 1'000'000u}) {
    std::size_t pieces = 0, free_bytes = 0;
    for (const std::size_t length : ready) {
      if (4 * length > free_bytes || pieces == 0) {
        ++pieces;
        free_bytes = std::max<std::size_t>(size, 4 * length);
      }
      free_bytes -= 4 * length;
    }
    Training training = training_of(test_profile("tiny_profile"), {{"bucket", "0B"}}, 4);
    training.algorithm["fusion_buffer"] = {{"size", std::to_string(size) + "B"},
                                           {"cycle", "100ms"}};
    const Trained trained = train(training);
    for (const Counters& c : trained.counters) {
      EXPECT_EQ(c.messages_inter, pieces * 2 * 3) << size;
      EXPECT_NEAR(static_cast<double>(c.bytes_inter), 4 * 26'155 * 2 * 3 / 4.0, 4.0 * 2 * 4 * 5);
    }
  }
}

/// Buckets that become ready between two cycles are in the later one.
TEST(FusionBuffer, LongerCyclesFuseMore) {
  std::uint64_t before = UINT64_MAX;
  for (const char* cycle : {"0s", "200us", "500us", "10ms"}) {
    Training training = training_of(test_profile("tiny_profile"), {{"bucket", "0B"}}, 4);
    training.algorithm["fusion_buffer"] = {{"cycle", cycle}};
    const std::uint64_t messages = train(training).counters.at(0).messages_inter;
    EXPECT_LE(messages, before) << cycle;
    before = messages;
  }
  EXPECT_EQ(before, 2u * 3) << "all at once";
}

/// With two ranks every sum has two terms, so the weights do not depend on how buckets are fused.
TEST(FusionBuffer, GivesTheSameWeightsAsWithoutIt) {
  for (const char* world : {"sim", "threads"})
    for (const bool overlap : {true, false})
      for (const char* name : {"gradient_allreduce", "half_precision_allreduce"}) {
        Training training;
        training.world = world;
        training.workload = {{"name", "quadratic"}, {"dimension", 101}, {"tensors", 7}};
        training.cluster = small_cluster(2);
        training.steps = 5;
        training.algorithm = {{"name", name}, {"bucket", "0B"}, {"overlap", overlap}};
        const auto plain = train(training).weights;
        training.algorithm["fusion_buffer"] = {{"size", "200B"}, {"cycle", "100us"}};
        EXPECT_EQ(train(training).weights, plain) << world << overlap << name;
      }
}

/// The time is one launch for each exchange for which the host has waited, or
/// `synchronize_overhead_s` if it is given. All exchanges come after backward, so nothing hides
/// this time.
TEST(Synchronize, CostsALaunchPerExchange) {
  Training training =
      training_of(test_profile("tiny_profile"), {{"bucket", "0B"}, {"overlap", false}}, 4);
  for (const double launch_s : {5e-6, 1e-4}) {
    training.cluster.accelerator.launch_overhead_s = launch_s;
    training.algorithm["synchronize"] = false;
    const double before_s = train(training).seconds();
    training.algorithm["synchronize"] = true;
    const double byte_s = 1 / training.cluster.accelerator.traffic_Bps();
    EXPECT_NEAR(train(training).seconds() - before_s, 5 * (launch_s + byte_s), 1e-12);
    training.cluster.accelerator.synchronize_overhead_s = 3e-4;
    EXPECT_NEAR(train(training).seconds() - before_s, 5 * 3e-4, 1e-12);
    training.cluster.accelerator.synchronize_overhead_s = -1;
  }
}

}  // namespace
}  // namespace trigram::test::fusion_test
