#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/expect_volume.h"

// Algorithms whose workers never wait for each other's gradients: what they send, that a slow
// worker slows nobody else, and that they end.

namespace trigram::test {
namespace {

std::uint64_t messages(const Counters& c) { return c.messages_intra + c.messages_inter; }
std::uint64_t bytes(const Counters& c) { return c.bytes_intra + c.bytes_inter; }

constexpr std::uint64_t kModel = 4 * 1003;  // bytes; see training_of

TEST(AdPsgdVolume, IsAModelEachWayPerAverage) {
  for (const auto nodes : {Nodes{1, 1}, Nodes{2, 1}, Nodes{5, 1}, Nodes{2, 4}})
    for (const int interval : {1, 3}) {
      SCOPED_TRACE(testing::Message() << testing::PrintToString(nodes) << " " << interval);
      Training training = training_of({{"name", "adpsgd"}, {"interval_steps", interval}}, nodes);
      training.steps = 10;
      const Trained trained = train(training);
      const int ranks = nodes.nodes * nodes.workers;
      ASSERT_EQ(trained.counters.size(), static_cast<std::size_t>(ranks));
      std::uint64_t active = 0, passive = 0;
      for (std::size_t rank = 0; rank < trained.counters.size(); ++rank) {
        const Counters& c = trained.counters[rank];
        EXPECT_EQ(bytes(c), messages(c) * kModel);
        (rank % 2 == 0 ? active : passive) += messages(c);
        if (rank % 2 == 0 && ranks > 1) {
          EXPECT_EQ(messages(c), 10u / static_cast<unsigned>(interval));
        }
      }
      EXPECT_EQ(active, passive);
    }
}

/// Steps of about a millisecond; messages take far less.
Training busy_training(const Json& algorithm, int ranks) {
  Training training = training_of(algorithm, {ranks, 1});
  training.cluster.accelerator.flops_per_s = 4e9;
  training.steps = 30;
  return training;
}

TEST(AdPsgdStragglers, SlowNobodyElse) {
  Training training = busy_training("adpsgd", 8);
  const Trained even = train(training);
  training.cluster.slow_workers = {{3, 4}};  // passive
  const Trained slow = train(training);
  EXPECT_GT(slow.ended_s.at(3), 3 * even.ended_s.at(3));
  for (std::size_t active = 0; active < 8; active += 2)
    EXPECT_LT(slow.ended_s.at(active), 1.05 * even.ended_s.at(active)) << active;
  training.cluster.slow_workers = {{2, 4}};  // active
  const Trained slow_active = train(training);
  EXPECT_GT(slow_active.ended_s.at(2), 3 * even.ended_s.at(2));
  for (const std::size_t active : {0, 4, 6})
    EXPECT_LT(slow_active.ended_s.at(active), 1.05 * even.ended_s.at(active)) << active;
}

/// The others do their steps as fast as ever; only the end is awaited by all.
TEST(AsyncServerStragglers, SlowNobodyElse) {
  Training training = busy_training({{"name", "async_parameter_server"}, {"servers", 2}}, 8);
  training.events = true;
  const auto last_step_s = [](const Trained& trained, std::size_t rank) {
    double end_s = 0;  // of what the worker computes
    for (const Event& e : trained.events.at(rank))
      if (e.kind == Event::compute && e.stream == trained.events[rank].front().stream)
        end_s = std::max(end_s, e.end_s);
    return end_s;
  };
  const Trained even = train(training);
  training.cluster.slow_workers = {{3, 4}};
  const Trained slow = train(training);
  EXPECT_GT(last_step_s(slow, 3), 3 * last_step_s(even, 3));
  for (const std::size_t rank : {0, 1, 2, 4, 5, 6, 7})
    EXPECT_LT(last_step_s(slow, rank), 1.05 * last_step_s(even, rank)) << rank;
}

class FreeRunning : public ::testing::TestWithParam<NamedAlgorithm> {};

TEST_P(FreeRunning, EndsAHundredTimes) {
  for (int run = 0; run < 100; ++run) {
    Training training;
    training.algorithm = GetParam().spec;
    training.cluster = small_cluster(run % 7 + 1, 1);
    training.steps = 8;
    training.seed = static_cast<std::uint64_t>(run);
    training.world = "threads";
    for (const auto& weights : train(training).weights)
      for (const float w : weights) ASSERT_TRUE(w - w == 0) << "run " << run;
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, FreeRunning,
                         ::testing::Values(NamedAlgorithm{"adpsgd", {{"name", "adpsgd"}}},
                                           NamedAlgorithm{"async_parameter_server",
                                                          {{"name", "async_parameter_server"}}},
                                           NamedAlgorithm{"async_parameter_server_coded",
                                                          {{"name", "async_parameter_server"},
                                                           {"codec", "minmax_uint8"}}}),
                         TestName{});

}  // namespace
}  // namespace trigram::test
