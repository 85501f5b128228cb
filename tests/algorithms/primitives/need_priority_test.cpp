#include <gtest/gtest.h>

#include "algorithms/servers/push_pull.h"
#include "tests/support/affine_workload.h"
#include "tests/support/training.h"
#include "tests/support/worlds.h"

// The parameter server's priority `need`: partitions that the next forward pass needs first travel
// first, and that pass waits for each bucket separately.

namespace trigram::test::need_priority_test {
namespace {

Json server(const std::string& priority, double early = 0.5) {
  Json algorithm = {{"name", "parameter_server"}, {"priority", priority}, {"partition", "4096kB"}};
  if (priority == "need") algorithm["early"] = early;
  return algorithm;
}

constexpr long kSteps = 3;

using Protocol = Transport::Protocol;

double seconds(const char* workload, double gbps, const Json& algorithm,
               Protocol protocol = Protocol::eager) {
  Training training;
  training.algorithm = algorithm;
  training.workload = workload;
  training.cluster = small_cluster(4);
  training.cluster.transport.protocol = protocol;
  training.cluster.inter.bandwidth_Bps = gbps * 1e9 / 8;
  training.steps = kSteps;
  return train(training).seconds();
}

/// If no message overtakes another, exchanges begin at the same times as without priorities, and
/// the forward pass waits for less.
TEST(NeedPriority, IsNeverSlowerWhereNothingOvertakes) {
  for (const char* workload : {"vgg16", "bert_large"})
    for (const double gbps : {1, 10, 100}) {
      const double ready_s = seconds(workload, gbps, server("ready"));
      EXPECT_LE(seconds(workload, gbps, server("need", 1)), ready_s * (1 + 1e-12))
          << workload << " at " << gbps << " Gbps";
    }
}

/// The gain is at most the time of the hidden forward passes, which are all but the first. Messages
/// are rendezvous messages: if workers could continue before other workers have everything they
/// need, overtaking messages could delay other ranks.
TEST(NeedPriority, IsFasterWhereCommunicationDominates) {
  for (const auto& [workload, forward_s] : {std::pair{"vgg16", 0.0486}, {"bert_large", 0.1767}})
    for (const double gbps : {1, 10}) {
      const double ready_s = seconds(workload, gbps, server("ready"), Protocol::rendezvous);
      const double need_s = seconds(workload, gbps, server("need"), Protocol::rendezvous);
      const double forwards_s = forward_s * (kSteps - 1);
      EXPECT_LT(need_s, ready_s - 0.1 * forwards_s) << workload << " at " << gbps << " Gbps";
      EXPECT_GT(need_s, ready_s - forwards_s) << workload << " at " << gbps << " Gbps";
    }
}

TEST(NeedPriority, GivesTheSameWeightsToTheLastBit) {
  for (const char* world : {"sim", "threads"})
    for (const bool priced : {false, true})
      for (const Json& servers : {Json("all"), Json(1), Json(3)})
        for (const double early : {0.0, 0.5, 1.0}) {
          Training training;
          training.world = world;
          training.workload = {{"name", "quadratic"}, {"dimension", 101}, {"tensors", 7}};
          if (priced && training.world == "sim") training.workload["priced_as"] = "vgg16";
          training.cluster = small_cluster(5);
          training.steps = 4;
          training.algorithm = {{"name", "parameter_server"}, {"servers", servers}};
          if (!priced) training.algorithm.update({{"bucket", "100B"}, {"partition", "24B"}});
          SCOPED_TRACE(testing::Message() << world << priced << servers << early);
          const auto ready = train(training).weights;
          training.algorithm.update({{"priority", "need"}, {"early", early}});
          const auto need = train(training).weights;
          ASSERT_EQ(ready.size(), 5u);
          ASSERT_FALSE(ready[0].empty());
          EXPECT_EQ(need, ready);
        }
}

/// Four buckets have two partitions each, and there is one server. The first half is in the order
/// in which partitions are ready, the other half in the order in which they are needed.
TEST(NeedPriority, OrdersPartitionsByTheBucketsAlone) {
  run_in_world("threads", flat_cluster(1), [](Context ctx) {
    const Tensor x = ctx.device->empty(8);
    std::vector<Bucket> buckets;
    for (int b = 0; b < 4; ++b)
      buckets.push_back(
          {b, x.part(static_cast<std::size_t>(b), 4), x.part(static_cast<std::size_t>(b), 4)});
    const auto last_buckets = [&](double early) {
      const PushPull rounds(ctx, buckets, Servers(1, 1), {.partition_bytes = 4, .early = early});
      std::vector<int> all;
      for (std::size_t r = 0; r + 1 < rounds.exchanges(); ++r) all.push_back(rounds.last_bucket(r));
      return all;
    };
    EXPECT_EQ(last_buckets(1), (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(last_buckets(0.5), (std::vector<int>{0, 0, 1, 1, 3, 3, 2, 2}));
    EXPECT_EQ(last_buckets(0.3), (std::vector<int>{0, 0, 1, 3, 3, 2, 2, 1})) << "rounded up";
    EXPECT_EQ(last_buckets(0), (std::vector<int>{3, 3, 2, 2, 1, 1, 0, 0}));
    const PushPull rounds(ctx, buckets, Servers(1, 1), {.partition_bytes = 4, .early = 0.3});
    EXPECT_EQ(rounds.order(), (std::vector<int>{0, 3, 2, 1}));
    EXPECT_EQ(rounds.completing_exchange(0), 2u)
        << "pushed by exchanges 0 and 1, pulled by 1 and 2";
    EXPECT_EQ(rounds.completing_exchange(1), 8u);
    EXPECT_EQ(rounds.completing_exchange(3), 5u);
  });
}

}  // namespace
}  // namespace trigram::test::need_priority_test
