// The variation of a step's computation time: distributions, their moments, and invalid
// descriptions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "netmodels/machines.h"
#include "tests/support/clusters.h"

namespace trigram::run_times_test {
namespace {

using testing::HasSubstr;

std::string nodes_with(const std::string& fields, int nodes = 8) {
  return "{\"nodes\": " + std::to_string(nodes) + ", " + fields + "}";
}

Cluster cluster_with(const std::string& fields, int nodes = 8) {
  return test::cluster_of(nodes_with(fields, nodes));
}

std::string error_of(const std::string& fields) { return test::error_of(nodes_with(fields)); }

struct Moments {
  double mean = 0, deviation = 0, smallest = 0, largest = 0;
};

/// The moments of the factors of 8 ranks and 5,000 steps.
Moments moments_of(const std::string& run_times) {
  const auto machine = make_machine_model(cluster_with("\"run_times\": " + run_times));
  Moments m{.smallest = 1e300};
  double squares = 0;
  constexpr int kSteps = 5000, kRanks = 8;
  for (int rank = 0; rank < kRanks; ++rank)
    for (long step = 0; step < kSteps; ++step) {
      const double factor = machine->compute_factor(rank, step);
      m.mean += factor / (kSteps * kRanks);
      squares += factor * factor / (kSteps * kRanks);
      m.smallest = std::min(m.smallest, factor);
      m.largest = std::max(m.largest, factor);
    }
  m.deviation = std::sqrt(std::max(0.0, squares - m.mean * m.mean - 1e-12));
  return m;
}

TEST(RunTimes, are_constant_by_default) {
  const auto machine = make_machine_model(cluster_with(R"("workers_per_node": 1)"));
  EXPECT_EQ(machine->compute_factor(3, 7), 1);
  EXPECT_EQ(moments_of(R"({"kind": "constant"})").deviation, 0);
}

TEST(RunTimes, differ_between_ranks_and_steps_and_repeat_for_the_same_seed) {
  const std::string fields = R"("run_times": {"kind": "lognormal", "variation": 0.5, "seed": 3})";
  const auto machine = make_machine_model(cluster_with(fields));
  // The number of ranks does not affect the draws.
  const auto larger = make_machine_model(cluster_with(fields, 64));
  std::set<double> drawn;
  for (int rank = 0; rank < 8; ++rank)
    for (long step = 0; step < 100; ++step) {
      drawn.insert(machine->compute_factor(rank, step));
      EXPECT_EQ(machine->compute_factor(rank, step), larger->compute_factor(rank, step));
    }
  EXPECT_GT(drawn.size(), 790u);
  const auto other = make_machine_model(
      cluster_with(R"("run_times": {"kind": "lognormal", "variation": 0.5, "seed": 4})"));
  EXPECT_NE(machine->compute_factor(0, 0), other->compute_factor(0, 0));
}

TEST(RunTimes, lognormal_factors_have_mean_1_and_the_given_variation) {
  const Moments m = moments_of(R"({"kind": "lognormal", "variation": 0.5})");
  EXPECT_NEAR(m.mean, 1, 0.02);
  EXPECT_NEAR(m.deviation, 0.5, 0.03);
  EXPECT_GT(m.smallest, 0);
}

TEST(RunTimes, bounded_factors_stay_within_their_bounds) {
  const Moments m = moments_of(R"({"kind": "bounded", "smallest": "200ms", "largest": "3400ms",
                                   "mean": "1200ms", "deviation": "400ms"})");
  EXPECT_NEAR(m.mean, 1, 0.02);
  EXPECT_NEAR(m.deviation, 400. / 1200, 0.03);
  EXPECT_GE(m.smallest, 0.98 * 200 / 1200);
  EXPECT_LE(m.largest, 1.02 * 3400 / 1200);
}

TEST(RunTimes, follow_their_quantiles) {
  const auto machine = make_machine_model(cluster_with(
      R"("run_times": {"kind": "quantiles", "quantiles": [{"share": 0, "time": "1s"},
         {"share": 0.75, "time": "2s"}, {"share": 1, "time": "10s"}]})"));
  constexpr double kMean = 0.75 * 1.5 + 0.25 * 6;  // the distribution has two uniform pieces
  int below = 0;
  double sum = 0;
  constexpr int kSteps = 20'000;
  for (long step = 0; step < kSteps; ++step) {
    const double seconds = kMean * machine->compute_factor(1, step);
    EXPECT_GE(seconds, 1 - 1e-9);
    EXPECT_LE(seconds, 10 + 1e-9);
    below += seconds < 2;
    sum += seconds;
  }
  EXPECT_NEAR(below / double{kSteps}, 0.75, 0.015);  // five standard deviations
  EXPECT_NEAR(sum / kSteps, kMean, 0.1);
}

TEST(RunTimes, two_quantiles_with_the_same_share_leave_a_gap) {
  const auto machine = make_machine_model(cluster_with(
      R"("run_times": {"kind": "quantiles", "quantiles": [{"share": 0, "time": "1s"},
         {"share": 0.5, "time": "2s"}, {"share": 0.5, "time": "8s"}, {"share": 1, "time": "9s"}]})"));
  int below = 0;
  constexpr int kSteps = 20'000;
  for (long step = 0; step < kSteps; ++step) {
    const double seconds = 5 * machine->compute_factor(1, step);  // the mean is 5 s
    EXPECT_TRUE(seconds <= 2 + 1e-9 || seconds >= 8 - 1e-9) << seconds;
    below += seconds < 5;
  }
  EXPECT_NEAR(below / double{kSteps}, 0.5, 0.018);  // five standard deviations
}

/// The published figure shows clusters of steps at 4.3 to 5 s and at 9.5 to 14 s, and one of 5,000
/// steps beyond them.
TEST(RunTimes, ddppo_has_the_published_clusters) {
  const auto machine = make_machine_model(
      cluster_with(R"("run_times": {"kind": "published", "name": "habitat_ddppo"})"));
  constexpr double kMean = 1.92445;
  int whiskers = 0, first = 0, second = 0, beyond = 0;
  constexpr int kSteps = 12'500;
  for (int rank = 0; rank < 8; ++rank)
    for (long step = 0; step < kSteps; ++step) {
      const double seconds = kMean * machine->compute_factor(rank, step);
      whiskers += seconds >= 1.7 - 1e-4 && seconds <= 2 + 1e-4;
      first += seconds >= 4.3 - 1e-4 && seconds <= 5 + 1e-4;
      second += seconds >= 9.5 - 1e-4 && seconds <= 14 + 1e-4;
      beyond += seconds > 14 + 1e-4 && seconds <= 43.5 + 1e-4;
    }
  EXPECT_EQ(whiskers + first + second + beyond, 8 * kSteps) << "no time is between the clusters";
  EXPECT_NEAR(first, 1500, 200);  // five standard deviations
  EXPECT_NEAR(second, 480, 110);
  EXPECT_NEAR(beyond, 20, 23);
}

TEST(RunTimes, the_longest_of_more_sequences_varies_less) {
  const std::string lengths =
      R"({"kind": "sequences", "shortest_length": 29, "longest_length": 1776, "mean_length": 187,
          "length_deviation": 97, "sequences": )";
  const Moments one = moments_of(lengths + "1}"), many = moments_of(lengths + "64}");
  const Moments half = moments_of(lengths + R"(1, "fixed_share": 0.5})");
  EXPECT_NEAR(one.mean, 1, 0.03);
  EXPECT_NEAR(many.mean, 1, 0.03);
  EXPECT_NEAR(one.deviation, 97. / 187, 0.06);
  EXPECT_LT(many.deviation, 0.8 * one.deviation);
  EXPECT_NEAR(half.deviation, one.deviation / 2, 1e-9);
  EXPECT_GE(half.smallest, 0.5);
}

TEST(RunTimes, published_distributions_have_their_published_moments) {
  for (const PublishedRunTimes& published : published_run_times()) {
    EXPECT_THAT(published.source, HasSubstr("arXiv")) << published.name;
    const Moments m = moments_of(R"({"kind": "published", "name": ")" + published.name + R"("})");
    EXPECT_NEAR(m.mean, 1, 0.05) << published.name;
    if (published.times.kind != RunTimes::Shape::bounded) continue;
    const RunTimes& t = published.times;
    // Cutting off at the longest time reduces the deviation a little.
    EXPECT_NEAR(m.deviation, t.deviation_s / t.mean_s, 0.2 * t.deviation_s / t.mean_s)
        << published.name;
    EXPECT_NEAR(m.smallest, t.smallest_s / t.mean_s, 0.3) << published.name;
    EXPECT_LE(m.largest, 1.05 * t.largest_s / t.mean_s) << published.name;
  }
}

TEST(RunTimes, multiply_the_factor_of_a_slow_worker) {
  const std::string run_times = R"("run_times": {"kind": "lognormal", "variation": 0.2})";
  const auto plain = make_machine_model(cluster_with(run_times));
  const auto slow = make_machine_model(
      cluster_with(run_times + R"(, "slow_workers": [{"rank": 2, "factor": 2.2}])"));
  EXPECT_EQ(slow->compute_factor(2, 5), 2.2 * plain->compute_factor(2, 5));
  EXPECT_EQ(slow->compute_factor(1, 5), plain->compute_factor(1, 5));
}

TEST(RunTimes, errors_have_json_pointers) {
  EXPECT_THAT(error_of(R"("run_times": {"kind": "lognormall"})"),
              HasSubstr("/cluster/run_times/kind"));
  EXPECT_THAT(error_of(R"("run_times": {"kind": "lognormal", "mean": "1s"})"),
              HasSubstr("/cluster/run_times/mean: is an option of the kind bounded"));
  EXPECT_THAT(error_of(R"("run_times": {"kind": "bounded", "smallest": "2s", "largest": "3s",
                           "mean": "1s", "deviation": "1s"})"),
              HasSubstr("/cluster/run_times/mean: expected a mean between the bounds 2 and 3"));
  EXPECT_THAT(error_of(R"("run_times": {"kind": "quantiles", "quantiles": []})"),
              HasSubstr("/cluster/run_times/quantiles: expected points from share 0 to share 1"));
  EXPECT_THAT(error_of(R"("run_times": {"kind": "quantiles", "quantiles": [
                           {"share": 0, "time": "2s"}, {"share": 1, "time": "1s"}]})"),
              HasSubstr("/cluster/run_times/quantiles/1: expected no smaller share"));
  EXPECT_THAT(error_of(R"("run_times": {"kind": "published"})"),
              HasSubstr("/cluster/run_times/name: missing"));
  EXPECT_THAT(error_of(R"("run_times": {"kind": "published", "name": "ucf101"})"),
              HasSubstr("ucf101_lstm"));
  EXPECT_THAT(error_of(R"("run_times": {"kind": "sequences", "mean_length": 5})"),
              HasSubstr("/cluster/run_times/mean_length: expected a mean between the bounds"));
}

TEST(Skew, grows_evenly_and_rotates) {
  const auto rotating =
      make_machine_model(cluster_with(R"("skew": {"smallest": "50ms", "largest": "400ms"})"));
  const auto fixed = make_machine_model(
      cluster_with(R"("skew": {"smallest": "50ms", "largest": "400ms", "rotates": false})"));
  for (long step = 0; step < 20; ++step) {
    double sum = 0;
    for (int rank = 0; rank < 8; ++rank) {
      EXPECT_DOUBLE_EQ(fixed->delay(rank, step), 0.05 + 0.05 * rank);
      EXPECT_DOUBLE_EQ(rotating->delay(rank, step),
                       0.05 + 0.05 * static_cast<double>((rank + step) % 8));
      sum += rotating->delay(rank, step);
    }
    EXPECT_NEAR(sum, 8 * 0.225, 1e-12);
  }
}

TEST(Skew, is_checked) {
  EXPECT_THAT(error_of(R"("skew": {"smallest": "2s", "largest": "1s"})"),
              HasSubstr("/cluster/skew/largest"));
  EXPECT_THAT(error_of(R"("skew": {"smallest": "2s"})"),
              HasSubstr("/cluster/skew/largest: missing"));
}

TEST(Skew, adds_to_stragglers) {
  const auto machine = make_machine_model(cluster_with(
      R"("skew": {"smallest": "1s", "largest": "1s"}, "stragglers": {"count": 8, "delay": "2s"})"));
  EXPECT_DOUBLE_EQ(machine->delay(5, 3), 3);
}

}  // namespace
}  // namespace trigram::run_times_test
