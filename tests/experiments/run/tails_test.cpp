#include "experiments/run/tails.h"

#include <gtest/gtest.h>

namespace trigram::tails_test {
namespace {

/// A step of workers that wait for each other.
StepRecord step(long number, double step_s, std::vector<double> work_s = {1, 1}) {
  StepRecord record;
  record.step = number;
  record.step_s = step_s;
  record.end_s.assign(work_s.size(), 0);
  record.work_s = std::move(work_s);
  return record;
}

Json of(const Tails& tails) {
  Json summary;
  tails.add_to(summary);
  return summary;
}

TEST(Tails, AreNearestRanks) {
  Tails tails(0, 1);
  for (long i = 0; i < 200; ++i) tails.add(step(i, static_cast<double>((i * 77) % 200 + 1)));
  const Json found = of(tails);
  EXPECT_EQ(found["step_p50_s"], 100);
  EXPECT_EQ(found["step_p95_s"], 190);
  EXPECT_EQ(found["step_p99_s"], 198);
}

TEST(Tails, LeaveOutTheWarmUp) {
  Tails tails(2, 1);
  for (const double slow_s : {9.0, 8.0}) tails.add(step(slow_s == 9 ? 0 : 1, slow_s, {5, 1}));
  EXPECT_EQ(of(tails)["step_p99_s"], 9) << "the run ends within the warm-up";
  tails.add(step(2, 4, {1, 1}));
  EXPECT_EQ(of(tails)["step_p99_s"], 4);
  EXPECT_EQ(of(tails)["straggler_share"], 0);
}

TEST(Tails, CountRepeatedSteps) {
  Tails tails(0, 1);
  const StepRecord cycle[] = {step(0, 1, {1, 1}), step(1, 3, {3, 1})};
  for (const StepRecord& record : cycle) tails.add(record);
  tails.repeat(cycle, 49);
  const Json found = of(tails);
  EXPECT_EQ(found["step_p50_s"], 1);
  EXPECT_EQ(found["step_p95_s"], 3);
  EXPECT_DOUBLE_EQ(found["straggler_share"], (3 - 2.0) / (1 + 3)) << "of every repetition";
}

TEST(Tails, TheSlowestWorkerLosesWhatExceedsTheMean) {
  Tails tails(0, 1);
  tails.add(step(0, 10, {8, 4, 3}));
  EXPECT_DOUBLE_EQ(of(tails)["straggler_share"], (8 - 5.0) / 10);
  tails.add(step(1, 6, {2, 2, 5}));
  EXPECT_DOUBLE_EQ(of(tails)["straggler_share"], (3 + 2.0) / 16);
}

/// Between two exchanges, nobody waits for a worker that is slow in one step and fast in another.
TEST(Tails, WorkAddsUpFromOneExchangeToTheNext) {
  Tails tails(0, 2);
  tails.add(step(0, 6, {6, 2}));
  EXPECT_EQ(of(tails)["straggler_share"], nullptr) << "no exchange yet";
  tails.add(step(1, 6, {2, 6}));
  EXPECT_EQ(of(tails)["straggler_share"], 0);
  tails.add(step(2, 4, {4, 2}));
  tails.add(step(3, 4, {4, 2}));
  EXPECT_DOUBLE_EQ(of(tails)["straggler_share"], 2.0 / 20);
}

TEST(Tails, OfWorkersThatDoNotWaitAreTheirOwn) {
  Tails tails(0, 1);
  for (long i = 0; i < 4; ++i) {
    StepRecord record = step(i, 5);
    record.completed = {{}, {}};
    const auto made = static_cast<double>(i + 1);
    record.end_s = {1 * made, 5 * made};
    tails.add(record);
  }
  const Json found = of(tails);
  EXPECT_EQ(found["step_p50_s"], 1);
  EXPECT_EQ(found["step_p99_s"], 5);
  EXPECT_EQ(found["straggler_share"], nullptr);
}

}  // namespace
}  // namespace trigram::tails_test
