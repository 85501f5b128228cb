#include "experiments/run/summary.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trigram::summary_test {
namespace {

/// A step that the ranks end at `end_s`, each after one mini-batch.
StepRecord step_ended_at(const std::vector<double>& end_s) {
  StepRecord record;
  record.time_s = std::ranges::max(end_s);
  record.end_s = end_s;
  record.batches.assign(end_s.size(), 1);
  return record;
}

std::vector<RankResult> ranks_with_batch(std::size_t count, std::size_t batch) {
  std::vector<RankResult> ranks(count);
  for (RankResult& rank : ranks) rank.batch = batch;
  return ranks;
}

TEST(Summary, IgnoresSamplesAndWeightsOfRanksThatOnlyServe) {
  Summary summary;
  StepRecord record = step_ended_at({2, 2, 2});
  record.sum.bytes_inter = 30;
  summary.add(record);
  std::vector<RankResult> ranks = ranks_with_batch(2, 6);
  for (RankResult& rank : ranks) rank.weights_hash = "equal";
  const Json workers = summary.to_json(ranks, std::nullopt);
  EXPECT_EQ(workers["samples_per_s"], 2 * 6 / 2);
  ranks.insert(ranks.begin() + 1, ranks[0]);
  ranks[1].trains = false;
  ranks[1].weights_hash = "other";
  const Json with_server = summary.to_json(ranks, std::nullopt);
  EXPECT_EQ(with_server["samples_per_s"], workers["samples_per_s"]);
  EXPECT_EQ(with_server["weights_hash"], workers["weights_hash"]);
  EXPECT_EQ(with_server["bytes_inter"], 30);
}

/// The samples per second of a run with one step, which two workers end at `end_s`.
Json samples_per_s_of_a_step(const std::vector<double>& end_s, std::size_t batch,
                             std::optional<std::size_t> priced_batch, bool waits = false) {
  Summary summary({.exact = false}, waits);
  summary.add(step_ended_at(end_s));
  return summary.to_json(ranks_with_batch(end_s.size(), batch), std::nullopt,
                         priced_batch)["samples_per_s"];
}

TEST(Summary, UsesThePaceOfEachWorkerIfWorkersDoNotWait) {
  EXPECT_EQ(samples_per_s_of_a_step({1, 4}, 6, std::nullopt), 6.0 / 1 + 6.0 / 4);
}

TEST(Summary, UsesTheSlowestPaceIfWorkersWait) {
  EXPECT_EQ(samples_per_s_of_a_step({1, 4}, 6, std::nullopt, /*waits=*/true), 2 * 6.0 / 4);
}

/// The means of a run whose first two steps take 4 s; after them, steps of 1, 1 and 3 s repeat.
Json means_of(const Cycle& cycle, long steps) {
  Summary summary(cycle);
  StepRecord record;
  for (record.step = 0; record.step < steps; ++record.step) {
    const bool warm_up = record.step < 2, sends = (record.step - 2) % 3 == 2;
    record.step_s = warm_up ? 4 : sends ? 3 : 1;
    record.time_s += record.step_s;
    record.end_s = {record.time_s};
    record.batches = {1};
    record.mean.exposed_s = warm_up || sends ? 2 : 0;
    record.sum.bytes_inter = warm_up || sends ? 30 : 0;
    summary.add(record);
  }
  return summary.to_json(ranks_with_batch(1, 6), std::nullopt);
}

TEST(Summary, TakesMeansOverWholeCyclesAfterAWarmUp) {
  const Cycle cycle{.first_step = 2, .steps = 3};
  for (const long steps : {5, 6, 7, 8, 10, 302}) {
    const Json means = means_of(cycle, steps);
    EXPECT_DOUBLE_EQ(means["step_s"], 5.0 / 3) << steps;
    EXPECT_DOUBLE_EQ(means["exposed_s"], 2.0 / 3) << steps;
    EXPECT_DOUBLE_EQ(means["samples_per_s"], 6 * 3 / 5.0) << steps;
    const long rated = (steps - 2) / 3 * 3;
    EXPECT_EQ(means["rates"]["steps"], rated);
    EXPECT_EQ(means["rates"]["from_step"], 2);
    EXPECT_EQ(means["rates"]["bytes_inter"], 30 * rated / 3);
    EXPECT_EQ(means["steps"], steps);
    EXPECT_EQ(means["bytes_inter"], 60 + 30 * rated / 3) << "of the whole run";
  }
  EXPECT_EQ(means_of(cycle, 7)["time_s"], 8 + 5 + 2);
  EXPECT_EQ(means_of(cycle, 7)["rates"]["over"],
            "3 of 7 steps: whole cycles of 3 after a warm-up of 2");
  EXPECT_EQ(means_of({.first_step = 2}, 7)["rates"]["over"],
            "5 of 7 steps: those after a warm-up of 2");
  EXPECT_EQ(means_of({}, 7)["rates"]["over"], nullptr);
}

TEST(Summary, TakesMeansOverAllStepsIfThereIsNoWholeCycle) {
  for (const long steps : {1, 2, 4}) {
    const Json means = means_of({.first_step = 2, .steps = 3}, steps);
    EXPECT_DOUBLE_EQ(means["step_s"], means["time_s"].get<double>() / static_cast<double>(steps));
    EXPECT_EQ(means["rates"]["steps"], steps);
    EXPECT_EQ(means["rates"]["from_step"], 0);
  }
}

TEST(Summary, ReportsPacesThatDifferMuch) {
  const auto paces = [](double slowest_s, bool waits = false) {
    Summary summary({.exact = false}, waits);
    summary.add(step_ended_at({slowest_s, 2}));
    return summary.to_json(ranks_with_batch(2, 6), std::nullopt)["paces"];
  };
  EXPECT_EQ(paces(3), nullptr);
  EXPECT_EQ(paces(4), (Json{{"slowest", {{"step_s", 4.0}, {"samples_per_s", 1.5}}},
                            {"fastest", {{"step_s", 2.0}, {"samples_per_s", 3.0}}}}));
  EXPECT_EQ(paces(4, /*waits=*/true), nullptr) << "all have the pace of the slowest";
}

/// Paces that do not differ much count, too.
TEST(Summary, ReportsTheSumAtThePaceOfTheSlowestWorker) {
  Summary summary({.exact = false}, /*waits=*/false);
  summary.add(step_ended_at({2.4, 2}));
  const Json json = summary.to_json(ranks_with_batch(2, 6), std::nullopt);
  EXPECT_EQ(json["paces"], nullptr);
  EXPECT_DOUBLE_EQ(json["samples_per_s"], 6 / 2.4 + 6 / 2.0);
  EXPECT_DOUBLE_EQ(json["samples_per_s_at_slowest"], 2 * 6 / 2.4);
}

TEST(Summary, CountsTheMiniBatchesOfEachWorker) {
  Summary summary;
  for (const double time_s : {2, 4}) {
    StepRecord record = step_ended_at({time_s, time_s});
    record.batches = {8, 5};
    summary.add(record);
  }
  EXPECT_EQ(summary.to_json(ranks_with_batch(2, 6), std::nullopt)["samples_per_s"],
            2 * (8 + 5) * 6 / 4.0);
}

TEST(Summary, CountsSamplesOfThePricedModel) {
  EXPECT_EQ(samples_per_s_of_a_step({2, 2}, 32, 6), 2 * 6 / 2);
}

}  // namespace
}  // namespace trigram::summary_test
