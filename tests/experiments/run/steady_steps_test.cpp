#include "experiments/run/steady_steps.h"

#include <gtest/gtest.h>

#include <functional>

#include "experiments/run/summary.h"

namespace trigram::steady_steps_test {
namespace {

constexpr int kRanks = 3;

/// The course of a run, step by step and rank by rank.
struct Course {
  std::function<double(int rank, long step)> seconds = [](int, long) { return 2.0; };
  std::function<std::uint64_t(long step)> bytes = [](long) { return 100; };
  std::function<double(long step)> credit = [](long) { return 0.0; };
  double at_the_end_s = 0;  // seconds by which the last step is longer
  long ahead = 1;           // number of steps by which a rank is ahead when a step ends
};

/// A run that makes steps for as long as `watch` requests them.
struct SteadyRun {
  SteadyRun(const SteadySteps::Options& options, const Course& course)
      : watch(options, [this, course] { return std::vector{course.credit(steps)}; }) {
    double time_s = 0;
    std::vector<double> ended_s(kRanks);
    for (; steps < watch.end(); ++steps) {
      std::vector<RankStep> ranks(kRanks);
      for (int rank = 0; rank < kRanks; ++rank) {
        auto& end_s = ended_s[static_cast<std::size_t>(rank)];
        end_s += course.seconds(rank, steps);
        if (steps + 1 == watch.end()) end_s += course.at_the_end_s;
        ranks[static_cast<std::size_t>(rank)] = {.end_s = end_s,
                                                 .spent = {.bytes_inter = course.bytes(steps)},
                                                 .staleness = {1, steps % 2, 1}};
        sent[static_cast<std::size_t>(rank)].bytes_inter += course.bytes(steps);
      }
      const StepRecord record = reduce(steps, ranks, time_s);
      time_s = record.time_s;
      summary.add(record);
      watch.add(record, ranks, {}, std::min(steps + course.ahead, watch.end() - 1));
    }
    if (watch.cycles_left_out() > 0) summary.repeat(watch.cycle(), watch.cycles_left_out());
    sent = watch.with_left_out(sent);
  }
  SteadyRun(const SteadyRun&) = delete;
  Json to_json() const { return summary.to_json(results, std::nullopt); }

  long steps = 0;
  SteadySteps watch;
  Summary summary;
  std::vector<RankResult> results = std::vector<RankResult>(kRanks);
  std::vector<Counters> sent = std::vector<Counters>(kRanks);
};

/// The same run with all its steps.
Json whole(SteadySteps::Options options, const Course& course) {
  options.shown = options.steps;
  const SteadyRun all(options, course);
  EXPECT_EQ(all.steps, options.steps);
  return all.to_json();
}

TEST(SteadySteps, TotalsIncludeTheStepsThatAreLeftOut) {
  for (const long cycle : {1, 2, 3, 5})
    for (const long ahead : {0, 1, 4})
      for (const long warmup : {0, 4}) {
        const SteadySteps::Options options{.cycle = {.first_step = warmup, .steps = cycle},
                                           .steps = 97};
        const Course course{
            .seconds =
                [=](int rank, long step) {
                  // In the first step, each rank is behind the ranks before it and stays behind.
                  const double later = step == 0 ? rank : 0;
                  return 1 + 0.1 * static_cast<double>(step % cycle) + (step < warmup ? 1 : later);
                },
            .bytes = [=](long step) { return static_cast<std::uint64_t>(10 + step % cycle); },
            .at_the_end_s = 0.7,
            .ahead = ahead};
        const SteadyRun run(options, course);
        const Json all = whole(options, course), short_run = run.to_json();
        EXPECT_LE(run.steps, warmup + 1 + 4 * cycle + ahead);
        EXPECT_EQ((97 - run.steps) % cycle, 0);
        EXPECT_EQ(short_run["bytes_inter"], all["bytes_inter"]);
        for (const Counters& rank : run.sent)
          EXPECT_EQ(kRanks * rank.bytes_inter, all["bytes_inter"].get<std::uint64_t>());
        for (const char* key : {"time_s", "step_s"})
          EXPECT_NEAR(short_run[key].get<double>() / all[key].get<double>(), 1, 1e-12)
              << key << " at a cycle of " << cycle;
        EXPECT_EQ(run.watch.to_json()["left_out"], 97 - run.steps);
      }
}

TEST(SteadySteps, StopBeforeAnyRankHasBegunTheLastStep) {
  for (const long ahead : {0, 1, 2, 7}) {
    const SteadyRun run({.steps = 50}, {.ahead = ahead});
    // A rank had ended step found + ahead by then.
    const long found = run.watch.to_json()["step"];
    EXPECT_EQ(found, 1);
    EXPECT_EQ(run.steps - 1, found + ahead + 2) << "the step after the step that the rank is in";
  }
}

TEST(SteadySteps, ContinueWhileAnythingChanges) {
  const SteadySteps::Options once{.steps = 40, .depth_bytes = 1e6};
  const auto steps = [](const SteadySteps::Options& options, const Course& course) {
    const SteadyRun run(options, course);
    EXPECT_EQ(run.watch.to_json().is_null(), run.steps == options.steps);
    return run.steps;
  };
  ASSERT_LT(steps(once, {}), 10);
  const auto changing = [](double change) {
    return [change](int, long step) { return 2 + change * static_cast<double>(step); };
  };
  EXPECT_EQ(steps(once, {.seconds = changing(1e-8)}), 40);
  EXPECT_LT(steps(once, {.seconds = changing(1e-11)}), 10) << "less than 1e-9 of a step";
  EXPECT_EQ(steps(once, {.seconds = [](int rank, long) { return 2 + 1e-8 * rank; }}), 40)
      << "a rank falls behind";
  EXPECT_EQ(steps(once, {.seconds = [](int, long step) { return 2.0 + step % 7; }}), 40)
      << "a cycle that the algorithm does not declare";
  EXPECT_EQ(steps(once, {.bytes = [](long step) { return static_cast<std::uint64_t>(step); }}), 40);
  const auto credit = [](double change) {
    return [change](long step) { return std::max(0.0, 1e6 - change * static_cast<double>(step)); };
  };
  EXPECT_EQ(steps(once, {.credit = credit(1e4)}), 40) << "credit lasts longer than the run";
  EXPECT_GT(steps(once, {.credit = credit(1e5)}), 10) << "it is used up after ten steps";
  EXPECT_LT(steps(once, {.credit = credit(1e5)}), 16);
}

TEST(SteadySteps, MayRepeatAfterSeveralCycles) {
  const Course alternating{.seconds = [](int, long step) { return 2.0 + step % 2; }};
  const auto found = [](const SteadySteps::Options& options, const Course& course) {
    const SteadyRun run(options, course);
    EXPECT_NEAR(run.to_json()["time_s"].get<double>(), whole(options, course)["time_s"], 1e-9);
    EXPECT_EQ(run.watch.to_json()["left_out"], options.steps - run.steps);
    return run.watch.to_json()["cycle"].get<long>();
  };
  EXPECT_EQ(found({.steps = 41}, {}), 1);
  EXPECT_EQ(found({.steps = 41}, alternating), 2);
  EXPECT_EQ(found({.cycle = {.clock_s = 0.3}, .steps = 41}, {}), 3) << "6 s are twenty ticks";
}

TEST(SteadySteps, WaitForWarmUpAndNetworkChanges) {
  const auto steps = [](const SteadySteps::Options& options) {
    return SteadyRun(options, {}).steps;
  };
  const long soon = steps({.steps = 40});
  EXPECT_EQ(steps({.steps = 40, .shown = 9}), soon + 8) << "the step that is drawn";
  EXPECT_EQ(steps({.cycle = {.first_step = 6}, .steps = 40}), soon + 6) << "a warm-up";
  EXPECT_EQ(steps({.steps = 40, .after_s = 12}), soon + 6) << "links change after six steps of 2 s";
  EXPECT_EQ(steps({.steps = soon}), soon) << "nothing to leave out";
  EXPECT_EQ(steps({.cycle = {.clock_s = 0.7}, .steps = 40}), 40) << "no multiple of the clock";
  EXPECT_EQ(steps({.cycle = {.clock_s = 0.4}, .steps = 40}), soon);
}

}  // namespace
}  // namespace trigram::steady_steps_test
