#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "netmodels/machines.h"
#include "tests/support/expect_volume.h"

// Methods that exchange weights, in buckets instead of the whole model. The weights and the bytes
// are the same, but the times differ.

namespace trigram::test::model_buckets_test {
namespace {

Json in_buckets(Json spec, const char* bucket = "0B") {
  spec["bucket"] = bucket;
  return spec;
}

TEST(ModelBuckets, LeaveTheSameWeights) {
  for (const Json& spec :
       {Json{{"name", "dpsgd"}}, Json{{"name", "decentralized"}, {"mode", "ring"}},
        Json{{"name", "sgp"}, {"graph", "star"}}, Json{{"name", "osgp"}, {"graph", "star"}},
        // For these algorithms the sums do not depend on how a vector is cut.
        Json{{"name", "local_sgd"}, {"sync_every", 2}, {"allreduce", "recursive_doubling"}},
        Json{{"name", "diloco"}, {"sync_every", 2}, {"allreduce", "recursive_doubling"}},
        Json{{"name", "slowmo"}, {"sync_every", 2}, {"allreduce", "recursive_doubling"}},
        Json{{"name", "bmuf"}, {"sync_every", 2}, {"allreduce", "recursive_doubling"}},
        Json{{"name", "easgd"}, {"sync_every", 2}, {"allreduce", "recursive_doubling"}}}) {
    Training training;
    training.workload = {{"name", "quadratic"}, {"dimension", 37}, {"tensors", 5}, {"noise", 0.5}};
    training.cluster = small_cluster(4);
    training.steps = 5;
    training.algorithm = spec;
    const Trained whole = train(training);
    training.algorithm = in_buckets(spec);
    const Trained parts = train(training);
    ASSERT_FALSE(whole.weights.empty()) << spec;
    EXPECT_EQ(parts.buckets.size(), 5u) << spec;
    EXPECT_EQ(whole.weights, parts.weights) << spec;
  }
}

TEST(ModelBuckets, OfAllreducesOfWeightsAreSeparateMessages) {
  for (const char* name : {"local_sgd", "decentralized", "diloco", "slowmo", "bmuf", "easgd"})
    for (const bool hierarchical : {false, true}) {
      Json spec = {{"name", name}, {"hierarchical", hierarchical}};
      if (name != std::string("decentralized")) spec["sync_every"] = 1;
      const Training training = training_of(in_buckets(spec, "1kB"), {3, 2});
      const Trained trained = train(training);
      ASSERT_GT(trained.buckets.size(), 1u);
      expect_volume(trained,
                    gradient_allreduce_volume(training.cluster.layout(), buckets_of(trained),
                                              training.steps, "ring", hierarchical));
    }
}

TEST(ModelBuckets, TravelDuringTheBackwardPass) {
  for (const char* name : {"dpsgd", "sgp", "local_sgd", "wagma"}) {
    Training training;
    training.workload = "vgg16";
    training.cluster = small_cluster(4);
    // The baseline has everything in one bucket, after backward.
    training.algorithm = {{"name", name}, {"bucket", "10GB"}};
    if (name == std::string("local_sgd")) training.algorithm["sync_every"] = 1;
    const double after = train(training).seconds();
    training.algorithm["bucket"] = "10MiB";
    EXPECT_LT(train(training).seconds(), 0.95 * after) << name;
  }
}

/// Buckets are exchanged one after another, and each takes 2(P-1) latencies.
TEST(ModelBuckets, OfBlocksOfLocalStepsPaySeparateLatencies) {
  for (const char* name : {"diloco", "slowmo", "bmuf", "easgd"}) {
    Training training = training_of({{"name", name}, {"sync_every", 1}}, {3, 1});
    training.cluster.accelerator.launch_overhead_s = 0;
    training.steps = 1;
    const double whole_s = train(training).seconds();
    training.algorithm["bucket"] = "0B";
    const Trained parts = train(training);
    const double latencies_s = 2 * 2 * training.cluster.inter.latency_s;
    const double more = (parts.seconds() - whole_s) / latencies_s;
    EXPECT_EQ(parts.buckets.size(), 7u);
    EXPECT_NEAR(more, 6, 0.05) << name;
  }
}

/// The time of the part of gossip that computation does not hide. The model computes for so long
/// that the exchange is complete. For every bucket there follow the leader's copy, the broadcast to
/// the other worker of its node, and the host's wait. In addition, the host waits once for the
/// computation.
TEST(ModelBuckets, OfGossipReturnToTheWeightsAfterBackward) {
  constexpr int kSteps = 3;
  for (const char* mode : {"all", "shift_one"})
    for (const char* bucket : {"10GB", "10MiB"}) {
      SCOPED_TRACE(testing::Message() << mode << bucket);
      Training training;
      training.workload = "resnet50";
      training.cluster = small_cluster(2, 2);
      // With eager messages, leaders could continue before their broadcasts have arrived.
      training.cluster.transport.protocol = Transport::Protocol::rendezvous;
      training.cluster.accelerator.launch_overhead_s = 0;
      training.cluster.accelerator.synchronize_overhead_s = 1e-3;
      training.steps = kSteps;
      training.algorithm = {{"name", "decentralized"}, {"mode", mode},
                            {"hierarchical", true},    {"bucket", bucket},
                            {"synchronize", true},     {"communication_interval", kSteps}};
      const double once_s = train(training).seconds();
      training.algorithm["communication_interval"] = 1;
      const Trained trained = train(training);
      const double bytes = 4.0 * static_cast<double>(trained.model_priced_numel());
      const auto buckets = static_cast<double>(trained.buckets.size());
      const double back_s = 2 * bytes / training.cluster.accelerator.traffic_Bps() +
                            bytes / training.cluster.intra.bandwidth_Bps +
                            buckets * training.cluster.intra.latency_s + (buckets + 1) * 1e-3;
      // Depending on the transport, a sender waits for one latency or for none.
      const double latencies_s = buckets * training.cluster.intra.latency_s;
      EXPECT_NEAR(trained.seconds() - once_s, (kSteps - 1) * back_s, kSteps * latencies_s);
      EXPECT_GT(back_s, 50 * latencies_s);
    }
}

/// The ranks that end the first step late, in a ring of 12 with one delayed rank. They are the
/// ranks whose distance from it is at most the number of consecutive messages, because every
/// message waits for the previous one on both sides. (For this reason D-PSGD pays for every delay
/// in the published code of WAGMA-SGD, arXiv 2005.00124.)
TEST(ModelBuckets, ADelayCrossesAsManyNeighboursAsThereAreBuckets) {
  constexpr int kRanks = 12;
  constexpr double kDelay = 0.1;
  for (const int messages : {1, 2, 4}) {
    Training training = training_of(
        messages == 1 ? Json{{"name", "dpsgd"}} : in_buckets({{"name", "dpsgd"}}), {kRanks, 1});
    training.workload["tensors"] = messages;
    training.cluster.stragglers = {.count = 1, .delay_s = kDelay};
    training.steps = 1;
    const auto machine = make_machine_model(training.cluster);
    int late = 0;
    while (machine->delay(late, 0) == 0) ++late;
    const Trained trained = train(training);
    ASSERT_EQ(trained.ended_s.size(), static_cast<std::size_t>(kRanks));
    for (int rank = 0; rank < kRanks; ++rank) {
      const int apart = std::abs(rank - late), neighbours = std::min(apart, kRanks - apart);
      const double ended = trained.ended_s[static_cast<std::size_t>(rank)];
      if (neighbours <= messages) EXPECT_GT(ended, kDelay) << messages << ", rank " << rank;
      else EXPECT_LT(ended, 0.5 * kDelay) << messages << ", rank " << rank;
    }
  }
}

}  // namespace
}  // namespace trigram::test::model_buckets_test
