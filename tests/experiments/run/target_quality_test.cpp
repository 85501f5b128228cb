#include "experiments/run/target_quality.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "experiments/run/collector.h"
#include "experiments/run/summary.h"
#include "tests/experiments/fakes.h"

namespace trigram::target_quality_test {
namespace {

TargetLevel accuracy(double level) { return {TargetLevel::Of::accuracy, level}; }
TargetLevel loss(double level) { return {TargetLevel::Of::loss, level}; }

/// A run of two ranks with an evaluation after every second step. Rank 0 may be ahead of rank 1.
class Course {
 public:
  explicit Course(TargetLevel level, long steps = 20, long first_model = 1, long interval_steps = 1)
      : target(level, steps, first_model, interval_steps),
        collector_({.ranks = 2, .steps = steps, .eval_every = 2, .stopping = &target},
                   [this](const StepRecord& record) { records.push_back(record); }) {}

  /// Makes rank `rank` end its next step with a model of this accuracy and loss.
  void step(int rank, float quality) {
    FakeWorkload workload({quality});
    long& step = next_[static_cast<std::size_t>(rank)];
    const RankStep done{.end_s = 3.0 * static_cast<double>(step + 1),
                        .spent = {.bytes_inter = 100 + static_cast<std::uint64_t>(rank)},
                        .staleness = {}};
    collector_.finish(rank, step++, done, workload, test::RecordingStream());
  }
  void both(float quality) {
    step(0, quality);
    step(1, quality);
  }

  TargetQuality target;
  std::vector<StepRecord> records;

 private:
  Collector collector_;
  std::vector<long> next_ = {0, 0};
};

TEST(TargetQuality, IsReachedAtAnEvaluation) {
  Course course(accuracy(0.5));
  course.both(0.9f);  // step 0 is not evaluated
  course.both(0.4f);
  course.both(0.6f);
  EXPECT_EQ(course.target.end(), 20);
  course.both(0.5f);  // step 3 is exactly as accurate as the target
  EXPECT_EQ(course.target.counted(), 4);
  EXPECT_EQ(
      course.target.to_json(0.5),
      (Json{{"accuracy", 0.5}, {"steps", 4}, {"epochs", 0.5}, {"time_s", 12.0}, {"after_s", 6.0}}));
}

TEST(TargetQuality, IsReachedAfterTheFirstStepIfTheFirstEvaluationReachesIt) {
  Course course(accuracy(0.5));
  course.both(0.1f);
  course.both(0.6f);
  EXPECT_EQ(course.target.to_json(0.5)["after_s"], 3.0);
}

/// An accuracy is 0.1 above the line between its neighbours, so a model beside one that lacks 0.04
/// may have reached the target.
TEST(TargetQuality, MayBeReachedEarlierIfTheQualityGoesUpAndDown) {
  Course course(accuracy(0.5));
  for (const float quality : {0.2f, 0.3f, 0.46f, 0.41f, 0.42f, 0.5f})
    for (const int step : {0, 1}) course.both(step == 0 ? 0.f : quality);
  EXPECT_EQ(course.target.to_json({})["time_s"], 36.0);
  EXPECT_EQ(course.target.to_json({})["after_s"], 12.0);
}

/// Only evaluations from then on tell how much the quality goes up and down.
TEST(TargetQuality, OnlyLaterDeviationsMatter) {
  Course course(accuracy(0.5));
  for (const float quality : {0.4f, 0.2f, 0.3f, 0.4f, 0.46f, 0.5f})
    for (const int step : {0, 1}) course.both(step == 0 ? 0.f : quality);
  EXPECT_EQ(course.target.to_json({})["after_s"], 3.0)
      << "0.4 lacks 0.1, and 0.2 is 0.15 below its neighbours";
  Course later(accuracy(0.5));
  for (const float quality : {0.25f, 0.2f, 0.3f, 0.4f, 0.46f, 0.5f})
    for (const int step : {0, 1}) later.both(step == 0 ? 0.f : quality);
  EXPECT_EQ(later.target.to_json({})["after_s"], 30.0)
      << "0.25 lacks more than the 0.075 that 0.2 is below";
}

/// Workers have a common model after every second step, so no model lies between two evaluations.
TEST(TargetQuality, IsNotReachedBetweenEvaluationsOfAllModels) {
  Course course(accuracy(0.5), 20, 2, 2);
  for (const float quality : {0.3f, 0.46f, 0.41f, 0.5f})
    for (const int step : {0, 1}) course.both(step == 0 ? 0.f : quality);
  EXPECT_EQ(course.target.to_json({})["after_s"], 18.0);
}

TEST(TargetQuality, IsNotReachedBeforeTheFirstCommonModel) {
  Course course(accuracy(0.5), 20, 2);
  course.both(0.1f);
  course.both(0.6f);
  EXPECT_EQ(course.target.to_json(0.5)["time_s"], 6.0);
  EXPECT_EQ(course.target.to_json(0.5)["after_s"], 6.0);
}

/// The first rank ended its first step before the last rank ended it.
TEST(TargetQuality, MayBeReachedAfterTheFirstStepOfTheFastestRank) {
  for (const bool waits : {false, true}) {
    TargetQuality target(accuracy(0.5), 20, 1, 1, waits);
    std::vector<RankStep> ranks(2);
    ranks[0].end_s = 1;
    ranks[1].end_s = 7;
    target.add(reduce(0, ranks, 0), ranks, {}, 5);
    StepRecord evaluated = reduce(1, ranks, 0);
    evaluated.evaluation.emplace().accuracy = 0.6;
    target.add(evaluated, ranks, {}, 19);
    EXPECT_EQ(target.to_json(1)["after_s"], waits ? 7.0 : 1.0);
    EXPECT_TRUE(target.worker_done()) << "a worker had ended step 19, its last step";
  }
}

TEST(TargetQuality, ALossIsReachedFromAbove) {
  Course course(loss(0.5));
  course.both(0.1f);  // step 0 is not evaluated
  course.both(0.6f);
  course.both(0.1f);
  EXPECT_EQ(course.target.end(), 20);
  course.both(0.5f);  // step 3 has exactly the target's loss
  EXPECT_EQ(course.target.counted(), 4);
  EXPECT_EQ(
      course.target.to_json(0.5),
      (Json{{"loss", 0.5}, {"steps", 4}, {"epochs", 0.5}, {"time_s", 12.0}, {"after_s", 6.0}}));
}

/// An evaluation after divergence still bounds the time from below.
TEST(TargetQuality, ALossThatIsNotFiniteReachesNoTarget) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Course course(loss(0.5));
  for (const float bad : {std::nanf(""), kInfinity, -kInfinity}) {
    course.both(bad);
    course.both(bad);
    EXPECT_EQ(course.target.end(), 20) << bad;
  }
  course.both(0.25f);
  course.both(0.25f);
  EXPECT_EQ(course.target.to_json({})["after_s"], 18.0);
  EXPECT_EQ(course.target.to_json({})["time_s"], 24.0);
}

TEST(TargetQuality, HasNoEpochsWithoutADataSet) {
  Course course(loss(0.5), 2);
  course.both(0.5f);
  course.both(0.5f);
  EXPECT_EQ(
      course.target.to_json(std::nullopt),
      (Json{{"loss", 0.5}, {"steps", 2}, {"epochs", nullptr}, {"time_s", 6.0}, {"after_s", 3.0}}));
}

TEST(TargetQuality, EndsWithAStepThatNoRankHasBegun) {
  Course course(accuracy(0.5));
  for (int step = 0; step < 7; ++step) course.step(0, 0.5f);  // rank 0 is in step 7
  EXPECT_EQ(course.target.end(), 20);
  course.step(1, 0.5f);
  course.step(1, 0.5f);
  EXPECT_EQ(course.target.end(), 9) << "the last step is number 8";
}

TEST(TargetQuality, LaterStepsDoNotCount) {
  Course course(accuracy(0.5));
  for (int step = 0; step < 5; ++step) course.step(0, 0.75f);
  for (int step = 0; step < 2; ++step) course.step(1, 0.25f);
  for (int step = 2; step < 5; ++step) course.step(1, 1);
  EXPECT_EQ(course.records.size(), 2u);

  const auto counted = course.target.completed(std::vector<RankResult>(2));
  Summary summary;
  for (const StepRecord& record : course.records) summary.add(record);
  EXPECT_EQ(summary.to_json(counted, std::nullopt)["bytes_inter"], 200 + 202);
  const std::vector<float> first = {0.75f}, second = {0.25f};
  EXPECT_EQ(counted[0].weights_hash, weights_hash(first));
  EXPECT_EQ(counted[1].weights_hash, weights_hash(second));
}

TEST(TargetQuality, ReachedInTheLastStepChangesNoResults) {
  Course course(accuracy(0.5), 2);
  course.both(0.9f);
  course.both(0.9f);
  EXPECT_EQ(course.target.end(), 2);
  std::vector<RankResult> results(2);
  results[0].weights_hash = "with what came after the last step";
  EXPECT_EQ(course.target.completed(results)[0].weights_hash, results[0].weights_hash);
  EXPECT_EQ(course.target.to_json(1.5)["epochs"], 1.5);
}

TEST(TargetQuality, IsNullIfItWasNotReached) {
  Course course(accuracy(0.5), 4);
  for (int step = 0; step < 4; ++step) course.both(0.25f);
  EXPECT_EQ(course.records.size(), 4u);
  EXPECT_EQ(course.target.to_json(0.5), (Json{{"accuracy", 0.5},
                                              {"steps", nullptr},
                                              {"epochs", nullptr},
                                              {"time_s", nullptr},
                                              {"after_s", nullptr}}));
}

}  // namespace
}  // namespace trigram::target_quality_test
