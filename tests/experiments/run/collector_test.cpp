#include "experiments/run/collector.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "tests/experiments/fakes.h"

namespace trigram::collector_test {
namespace {

using namespace std::chrono_literals;

struct Recorded {
  std::vector<StepRecord> records;
  Collector::Sink sink() {
    return [this](const StepRecord& r) { records.push_back(r); };
  }
};

RankStep ended_at(double seconds, double loss = 1) {
  RankStep step;
  step.end_s = seconds;
  step.loss = loss;
  step.spent.bytes_inter = 10;
  step.spent.compute_s = seconds;
  return step;
}

TEST(Collector, ReducesAStepWhenItsLastRankEndsIt) {
  Recorded recorded;
  Collector collector({.ranks = 2, .steps = 2}, recorded.sink());
  FakeWorkload a({1}), b({1});
  test::RecordingStream stream;
  collector.finish(0, 0, ended_at(2, 1), a, stream);
  collector.finish(0, 1, ended_at(3), a, stream);  // an asynchronous rank is ahead
  EXPECT_TRUE(recorded.records.empty());
  collector.finish(1, 0, ended_at(4, 5), b, stream);
  ASSERT_EQ(recorded.records.size(), 1u);
  EXPECT_EQ(recorded.records[0].time_s, 4);
  EXPECT_EQ(recorded.records[0].loss, 3);
  EXPECT_EQ(recorded.records[0].sum.bytes_inter, 20u);
  EXPECT_EQ(recorded.records[0].mean.compute_s, 3);
  collector.finish(1, 1, ended_at(10), b, stream);
  ASSERT_EQ(recorded.records.size(), 2u);
  EXPECT_EQ(recorded.records[1].step_s, 6);
}

TEST(Collector, CountsTrafficThatArrivedBeforeTheLastTrainerEndedAStep) {
  Recorded recorded;
  ArrivedTraffic arrived(3);
  Collector collector({.ranks = 3, .trainers = 2, .arrived = &arrived, .steps = 2},
                      recorded.sink());
  FakeWorkload workload({1});
  test::RecordingStream stream;
  RankStep serves = ended_at(9);
  serves.trains = false;
  for (long step = 0; step < 2; ++step) {
    collector.finish(0, step, ended_at(2), workload, stream);
    arrived.add({.from = 0, .to = 1, .count = {.intra = false, .messages = 1, .bytes = 100}});
    collector.finish(1, step, ended_at(4), workload, stream);
    // in flight when the workers end the step
    arrived.add({.from = 2, .to = 1, .count = {.intra = false, .messages = 1, .bytes = 1000}});
    collector.finish(2, step, serves, workload, stream);
  }
  ASSERT_EQ(recorded.records.size(), 2u);
  EXPECT_EQ(recorded.records[0].sum.bytes_inter, 100u);
  EXPECT_EQ(recorded.records[1].sum.bytes_inter, 1100u);
  EXPECT_EQ(recorded.records[1].arrived[0].bytes_inter, 200u);
  EXPECT_EQ(recorded.records[1].arrived[2].bytes_inter, 1000u);
}

TEST(Collector, EvaluatesPeriodicallyAndAfterTheLastStep) {
  Recorded recorded;
  Collector collector({.ranks = 1, .steps = 5, .eval_every = 2}, recorded.sink());
  FakeWorkload workload({1});
  test::RecordingStream stream;
  for (long step = 0; step < 5; ++step) collector.finish(0, step, ended_at(1), workload, stream);
  std::vector<long> evaluated;
  for (const StepRecord& r : recorded.records)
    if (r.evaluation) evaluated.push_back(r.step);
  EXPECT_EQ(evaluated, (std::vector<long>{1, 3, 4}));
}

TEST(Collector, EvaluatesTheWeightsOfThatStep) {
  Recorded recorded;
  Collector collector({.ranks = 2, .steps = 2, .eval_every = 1}, recorded.sink());
  FakeWorkload a({4}), b({2});
  test::RecordingStream stream;
  collector.finish(0, 0, ended_at(1), a, stream);
  a.set({100});  // continues before the other rank arrives
  collector.finish(1, 0, ended_at(1), b, stream);
  ASSERT_EQ(recorded.records.size(), 1u);
  EXPECT_EQ(recorded.records[0].evaluation->loss, 3) << "FakeWorkload's loss is its first weight";
}

/// When the second rank arrives, the other rank, which does not wait, is three steps ahead. One of
/// these steps is evaluated.
TEST(Collector, EvaluatesCurrentModelsIfRanksDoNotWait) {
  for (const bool waits : {false, true}) {
    Recorded recorded;
    Collector collector({.ranks = 2, .steps = 9, .eval_every = 2, .waits = waits}, recorded.sink());
    test::RecordingStream stream;
    for (long step = 0; step < 5; ++step) {
      FakeWorkload ahead({static_cast<float>(step + 1)});
      collector.finish(0, step, ended_at(static_cast<double>(step + 1)), ahead, stream);
    }
    FakeWorkload behind({0});
    collector.finish(1, 0, ended_at(10), behind, stream);
    collector.finish(1, 1, ended_at(20), behind, stream);
    ASSERT_EQ(recorded.records.size(), 2u);
    EXPECT_EQ(recorded.records[1].evaluation->loss, waits ? 1 : 2) << "mean of 4 or 2, and 0";
  }
}

/// If reports arrive after the run, an evaluation does not use the models of steps that ended after
/// its time.
TEST(Collector, DoesNotEvaluateModelsOfLaterTimes) {
  Recorded recorded;
  Collector collector({.ranks = 2, .steps = 6, .eval_every = 2, .waits = false}, recorded.sink());
  test::RecordingStream stream;
  for (long step = 0; step < 6; ++step) {
    FakeWorkload first({static_cast<float>(step + 1)});
    collector.finish(0, step, ended_at(2.0 * static_cast<double>(step + 1)), first, stream);
  }
  FakeWorkload second({0});
  collector.finish(1, 0, ended_at(5), second, stream);
  collector.finish(1, 1, ended_at(9), second, stream);
  ASSERT_EQ(recorded.records.size(), 2u);
  EXPECT_EQ(recorded.records[1].evaluation->loss, 2)
      << "rank 0 ended step 3 after 8 s and step 5 after 12 s";
}

/// For ranks that do not train, only the bytes count.
TEST(Collector, LeavesOutRanksThatOnlyServe) {
  Recorded recorded;
  Collector collector({.ranks = 3, .steps = 1}, recorded.sink());
  FakeWorkload a({0.75f}), server({0.125f}), b({0.25f});
  test::RecordingStream stream;
  RankStep served = ended_at(50, std::nan(""));
  served.trains = false;
  collector.finish(0, 0, ended_at(2, 1), a, stream);
  collector.finish(2, 0, ended_at(4, 5), b, stream);
  collector.finish(1, 0, served, server, stream);
  ASSERT_EQ(recorded.records.size(), 1u);
  const StepRecord& record = recorded.records[0];
  EXPECT_EQ(record.time_s, 4);
  EXPECT_EQ(record.step_s, 4);
  EXPECT_EQ(record.loss, 3);
  EXPECT_EQ(record.mean.compute_s, 3);
  EXPECT_EQ(record.sum.bytes_inter, 30u);
  EXPECT_EQ(record.evaluation->loss, 0.5);
  EXPECT_EQ(record.evaluation->consensus_distance, 0.0625);
  EXPECT_EQ(record.evaluation->worker_accuracy_min, 0.25);
}

TEST(Collector, RanksOfASynchronousAlgorithmWaitForTheEvaluation) {
  Recorded recorded;
  Collector collector(
      {.ranks = 2, .steps = 1, .eval_every = 1, .pause = EvaluationPause::rendezvous},
      recorded.sink());
  FakeWorkload a({1}), b({1});
  RealStream stream;
  b.evaluation_takes(50ms);
  double excluded_first = 0;
  std::thread first([&] { excluded_first = collector.finish(0, 0, ended_at(1), a, stream); });
  std::this_thread::sleep_for(100ms);  // waiting for a straggler counts as training time, but
                                       // waiting for an evaluation does not
  const double excluded_last = collector.finish(1, 0, ended_at(1), b, stream);
  first.join();
  EXPECT_EQ(recorded.records.size(), 1u);
  EXPECT_GE(excluded_last, 0.05);
  EXPECT_GE(excluded_first, 0.05);
  EXPECT_LT(excluded_first, excluded_last + 0.09) << "the first rank's wait for the last counts";
}

TEST(Collector, CancelWakesWaitingRanks) {
  Recorded recorded;
  Collector collector(
      {.ranks = 2, .steps = 1, .eval_every = 1, .pause = EvaluationPause::rendezvous},
      recorded.sink());
  FakeWorkload a({1});
  RealStream stream;
  std::thread waiting([&] { collector.finish(0, 0, ended_at(1), a, stream); });
  std::this_thread::sleep_for(20ms);
  collector.cancel();
  waiting.join();
  EXPECT_TRUE(recorded.records.empty());
}

TEST(Evaluation, EqualWorkersAreEvaluatedOnce) {
  FakeWorkload workload({0});
  const Evaluation e = evaluate(workload, std::vector<std::vector<float>>(5, {0.25f}));
  EXPECT_EQ(workload.evaluations(), 1);
  EXPECT_EQ(e.accuracy, 0.25);
  EXPECT_EQ(e.worker_accuracy_min, 0.25);
  EXPECT_EQ(e.worker_accuracy_mean, 0.25);
  EXPECT_EQ(e.consensus_distance, 0);
}

/// Its loss is the square of the first weight, so a mean of losses is not the loss of the mean.
struct SquaredLoss : FakeWorkload {
  using FakeWorkload::FakeWorkload;
  Quality evaluate(std::span<const float> weights, std::size_t max_samples) override {
    const Quality quality = FakeWorkload::evaluate(weights, max_samples);
    return {quality.loss * quality.loss, quality.accuracy};
  }
};

TEST(Evaluation, UnequalWorkersAreEvaluatedSeparately) {
  SquaredLoss workload({0});
  const std::vector<std::vector<float>> weights = {{0.5f, 3}, {0.5f, 3}, {0.25f, 0}, {0.75f, 6}};
  const Evaluation e = evaluate(workload, weights);
  EXPECT_EQ(workload.evaluations(), 4) << "the mean and three distinct models";
  EXPECT_EQ(workload.evaluations_on_all(), 1) << "the mean";
  EXPECT_EQ(e.accuracy, 0.5);
  EXPECT_EQ(e.worker_accuracy_min, 0.25);
  EXPECT_EQ(e.worker_accuracy_mean, 0.5);
  EXPECT_EQ(e.loss, 0.25);
  EXPECT_EQ(e.worker_loss_mean, (2 * 0.25 + 0.0625 + 0.5625) / 4);
  EXPECT_EQ(e.consensus_distance, 2 * (0.0625 + 9) / 4);
}

TEST(StepRecord, NumbersThatAreNotFiniteAreNull) {
  StepRecord record;
  record.loss = std::nan("");
  const Json j = to_json(record);
  EXPECT_TRUE(j["loss"].is_null());
  EXPECT_TRUE(j["staleness_mean"].is_null());
  EXPECT_FALSE(j.contains("accuracy"));
}

}  // namespace
}  // namespace trigram::collector_test
