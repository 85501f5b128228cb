#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/algorithm.h"

namespace trigram::steps_test {
namespace {

TEST(Steps, CountFromZero) {
  Steps steps(3);
  std::vector<long> seen;
  for (long t : steps) {
    EXPECT_EQ(steps.current(), t);
    seen.push_back(t);
  }
  EXPECT_EQ(seen, (std::vector<long>{0, 1, 2}));
  EXPECT_EQ(steps.current(), 3);
}

TEST(Steps, WithoutIterationsCallNoHook) {
  int calls = 0;
  Steps steps(0, {[&](long) { ++calls; }, [&](long) { ++calls; }});
  for ([[maybe_unused]] long t : steps) ADD_FAILURE();
  EXPECT_EQ(calls, 0);
}

TEST(Steps, HooksSurroundEachIteration) {
  std::string order;
  Steps steps(2, {[&](long t) { order += "b" + std::to_string(t); },
                  [&](long t) { order += "e" + std::to_string(t); }});
  for (long t : steps) order += "-" + std::to_string(t);
  EXPECT_EQ(order, "b0-0e0b1-1e1");
}

TEST(Steps, AnIterationLeftEarlyDoesNotEnd) {
  int ended = 0;
  Steps steps(5, {{}, [&](long) { ++ended; }});
  for (long t : steps)
    if (t == 2) break;
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(steps.current(), 2);
}

TEST(Steps, BeginOnce) {
  std::string order;
  Steps steps(2, {[&](long t) { order += "b" + std::to_string(t); },
                  [&](long t) { order += "e" + std::to_string(t); }});
  steps.begin();
  for ([[maybe_unused]] long t : steps) break;
  for ([[maybe_unused]] long t : steps) steps.begin();
  EXPECT_EQ(order, "b0e0b1e1");
}

TEST(Steps, OfAPartAreStepsOfTheWhole) {
  std::string order;
  Steps whole(5, {[&](long t) { order += "b" + std::to_string(t); },
                  [&](long t) { order += "e" + std::to_string(t); }});
  std::vector<long> seen;
  for (const auto& [first, count] : {std::pair{0L, 2L}, {2L, 3L}}) {
    Steps part(whole, first, count);
    EXPECT_EQ(part.count(), count);
    for (long t : part) {
      seen.push_back(t);
      EXPECT_EQ(whole.current(), first + t);
      part.record_staleness(t);
      part.record_batches(7);
    }
  }
  EXPECT_EQ(seen, (std::vector<long>{0, 1, 0, 1, 2}));
  EXPECT_EQ(order, "b0e0b1e1b2e2b3e3b4e4");
  EXPECT_EQ(whole.current(), 5);
  EXPECT_EQ(whole.take_staleness().updates, 5);
  EXPECT_EQ(whole.take_batches(), 7);
}

TEST(Steps, OfAPartEndWithTheWhole) {
  Steps whole(10);
  Steps first(whole, 0, 4);
  long made = 0;
  for (long t : first) {
    if (t == 2) whole.end_after(3);
    ++made;
  }
  EXPECT_EQ(made, 3);
  EXPECT_EQ(first.count(), 3);
  EXPECT_EQ(Steps(whole, 4, 6).count(), 0);
}

TEST(Steps, StalenessIsSummedAndTakenOnce) {
  Steps steps(1);
  for (long s : {0, 3, 1}) steps.record_staleness(s);
  const auto first = steps.take_staleness();
  EXPECT_EQ(first.updates, 3);
  EXPECT_EQ(first.sum, 4);
  EXPECT_EQ(first.max, 3);
  const auto second = steps.take_staleness();
  EXPECT_EQ(second.updates, 0);
  EXPECT_EQ(second.sum, 0);
  EXPECT_EQ(second.max, 0);
}

TEST(Steps, StalenessMayComeFromSeveralStreams) {
  Steps steps(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 1000; ++k) steps.record_staleness(i);
    });
  for (std::thread& thread : threads) thread.join();
  const auto total = steps.take_staleness();
  EXPECT_EQ(total.updates, 4000);
  EXPECT_EQ(total.sum, 6000);
  EXPECT_EQ(total.max, 3);
}

}  // namespace
}  // namespace trigram::steps_test
