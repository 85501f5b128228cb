#include "experiments/run/bucket_tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

namespace trigram::bucket_tuner_test {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = kKiB * kKiB;
constexpr double kFirstStepS = 5;  // the first step after a change takes this much longer

/// A run whose steps take `step_s(bytes)`, the first of an interval kFirstStepS more.
struct SyntheticRun {
  BucketTuner tuner;
  std::function<double(std::int64_t)> step_s;
  std::vector<double> ended_s = {};
  std::vector<BucketTuner::Interval> intervals = {};

  /// Makes `steps` steps. Before them, the run has buckets of `configured` bytes for `every` steps.
  void make(std::int64_t configured, std::int64_t every, std::int64_t steps) {
    intervals.push_back({configured, 0, every});
    double now_s = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      if (step == intervals.back().end) intervals.push_back(tuner.next());
      const auto& [bytes, first, end] = intervals.back();
      now_s += step_s(bytes) + (step == first ? kFirstStepS : 0);
      ended_s.push_back(now_s);
      tuner.step_ended(now_s);
    }
  }
};

/// 1 s at 1 MiB, and more the further the size is from it.
double best_at_one_mebibyte(std::int64_t bytes) {
  return 1 + std::abs(std::log2(static_cast<double>(bytes) / static_cast<double>(kMiB)));
}

SyntheticRun run_of(std::int64_t evaluations, std::size_t configured, std::int64_t steps,
                    std::size_t model_bytes = 1u << 30) {
  SyntheticRun run{{{.every = 4, .evaluations = evaluations}, configured, model_bytes, 1},
                   best_at_one_mebibyte};
  run.make(static_cast<std::int64_t>(configured), 4, steps);
  return run;
}

TEST(BucketTuner, TriesEverySizeOnceIfItMay) {
  const SyntheticRun run = run_of(16, 3 * kMiB, 200);
  ASSERT_EQ(run.intervals.size(), 1u + 13 + 1);  // 3 MiB; 64 KiB to 256 MiB; the chosen size
  std::set<std::int64_t> sizes;
  for (std::size_t i = 0; i < run.intervals.size(); ++i) {
    const BucketTuner::Interval& interval = run.intervals[i];
    EXPECT_EQ(interval.first, 4 * static_cast<std::int64_t>(i));
    if (i + 1 == run.intervals.size()) break;
    EXPECT_EQ(interval.end, interval.first + 4);
    EXPECT_TRUE(sizes.insert(interval.bytes).second) << interval.bytes;
  }
  EXPECT_EQ(*sizes.begin(), 64 * kKiB);
  EXPECT_EQ(*sizes.rbegin(), 256 * kMiB);
  EXPECT_EQ(run.intervals.back().bytes, kMiB);
  EXPECT_EQ(run.intervals.back().end, BucketTuner::kUntilTheEnd);
}

TEST(BucketTuner, FindsTheBestOfManySizesInFewTrials) {
  const Json result = run_of(8, 128 * kMiB, 200).tuner.to_json();
  EXPECT_EQ(result["tried"].size(), 8u);
  EXPECT_EQ(result["bucket"], kMiB);
}

TEST(BucketTuner, TriesOneSizeThatHoldsTheModel) {
  const SyntheticRun run = run_of(16, 64 * kKiB, 200, 300 * kKiB);
  std::set<std::int64_t> sizes;
  for (const auto& interval : run.intervals) sizes.insert(interval.bytes);
  EXPECT_EQ(sizes, (std::set<std::int64_t>{64 * kKiB, 128 * kKiB, 256 * kKiB, 512 * kKiB}));
}

/// Times per step leave out the first step of each trial.
TEST(BucketTuner, ReportsWhatItMeasured) {
  const SyntheticRun run = run_of(6, 16 * kMiB, 200);
  const Json result = run.tuner.to_json();
  const double configured_s = best_at_one_mebibyte(16 * kMiB);
  double slower_s = 0;
  ASSERT_EQ(result["tried"].size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    const Json& trial = result["tried"][i];
    EXPECT_EQ(trial["bucket"], run.intervals[i].bytes);
    EXPECT_EQ(trial["first_step"], 4 * i);
    EXPECT_EQ(trial["steps"], 4);
    const double step_s = best_at_one_mebibyte(run.intervals[i].bytes);
    EXPECT_NEAR(trial["step_s"], step_s, 1e-9);
    if (i > 0) slower_s += std::max(0.0, 4 * (step_s - configured_s) + kFirstStepS);
  }
  EXPECT_NEAR(result["slower_s"], slower_s, 1e-9);
  EXPECT_EQ(result["from_step"], 24);
  EXPECT_NEAR(result["step_s"], best_at_one_mebibyte(run.intervals.back().bytes), 1e-9);
}

TEST(BucketTuner, HasPaidForItselfOnceTheRunIsAsFarAsInTheConfiguredBuckets) {
  const SyntheticRun run = run_of(16, 4 * kMiB, 400);
  const double configured_s = best_at_one_mebibyte(4 * kMiB);  // 3 s, and 1 s with 1 MiB
  const Json result = run.tuner.to_json();
  const auto paid = result["paid_off_step"].get<std::size_t>();
  ASSERT_GT(paid, result["from_step"].get<std::size_t>());
  const auto ends_in_configured_s = [&](std::size_t step) {
    return kFirstStepS + configured_s * static_cast<double>(step + 1);
  };
  EXPECT_LE(run.ended_s[paid], ends_in_configured_s(paid) + 1e-9);
  EXPECT_GT(run.ended_s[paid - 1], ends_in_configured_s(paid - 1));
}

TEST(BucketTuner, DoesNotPayIfTheConfiguredSizeIsTheBestOrTheRunIsShort) {
  EXPECT_TRUE(run_of(16, kMiB, 400).tuner.to_json()["paid_off_step"].is_null());
  const Json shorter = run_of(16, 4 * kMiB, 60).tuner.to_json();
  EXPECT_EQ(shorter["bucket"], kMiB);
  EXPECT_TRUE(shorter["paid_off_step"].is_null());
  const Json unfinished = run_of(16, 4 * kMiB, 10).tuner.to_json();
  EXPECT_EQ(unfinished["tried"].size(), 2u);
  for (const char* key : {"bucket", "from_step", "step_s", "paid_off_step"})
    EXPECT_TRUE(unfinished[key].is_null()) << key;
}

}  // namespace
}  // namespace trigram::bucket_tuner_test
