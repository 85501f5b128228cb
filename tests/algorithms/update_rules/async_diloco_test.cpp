// Asynchronous DiLoCo with a known order of arrivals, compared with plain loops over its equations;
// and what holds in any order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/affine_training.h"

namespace trigram::test::async_diloco_test {
namespace {

constexpr double kLr = 0.125, kSlope = 0.5, kOuterLr = 0.6, kMu = 0.8;
constexpr std::size_t kRanks = 3;
constexpr long kSteps = 12;

// The duration of each rank's steps in seconds. Everything else takes less than a millisecond.
constexpr double kPeriod[kRanks] = {0.37, 0.101, 0.163};

struct Rule {
  const char* momentum = "delayed";
  long every = kRanks;  // N
  bool dynamic = false;
  long sync_every = 4;
};

struct Worker {
  double y = 1, x = 1, end_s = 0, step_s = 0;
  long left = kSteps, next = 0, steps = 0;  // `next`: of the next block
};

/// Applies the equations, block by block in the order in which blocks end.
class Reference {
 public:
  explicit Reference(const Rule& rule) : rule_(rule) {
    for (std::size_t r = 0; r < kRanks; ++r) begin_block(r);
    while (std::ranges::any_of(workers_, [](const Worker& w) { return w.steps > 0; })) {
      const auto next = std::ranges::min_element(workers_, {}, &Worker::end_s);
      end_block(static_cast<std::size_t>(next - workers_.begin()));
    }
  }
  double y = 1;
  std::vector<long> blocks[kRanks];    // their lengths
  std::vector<double> begins[kRanks];  // the weights at the beginning of each block but the first
  double shortest_gap_s = 1e9;

 private:
  void begin_block(std::size_t r) {
    Worker& w = workers_[r];
    w.steps = std::min(w.left, w.next > 0 ? w.next : rule_.sync_every);
    w.left -= w.steps;
    if (w.steps == 0) {
      w.end_s = 1e9;
      return;
    }
    blocks[r].push_back(w.steps);
    for (long t = 0; t < w.steps; ++t) w.x -= kLr * (kSlope * w.x + static_cast<double>(r) + 1);
    w.end_s += static_cast<double>(w.steps) * kPeriod[r];
  }

  void end_block(std::size_t r) {
    Worker& w = workers_[r];
    shortest_gap_s = std::min(shortest_gap_s, w.end_s - now_s_);
    now_s_ = w.end_s;
    if (rule_.dynamic) {
      w.step_s = kPeriod[r];
      double fastest_s = kPeriod[r];
      for (const Worker& other : workers_)
        if (other.step_s > 0) fastest_s = std::min(fastest_s, other.step_s);
      w.next =
          std::max(1L, std::lround(std::floor(
                           fastest_s / kPeriod[r] * static_cast<double>(rule_.sync_every) + 1e-6)));
    }
    apply(w.y - w.x);
    w.y = w.x = y;
    begins[r].push_back(y);
    begin_block(r);
  }

  void apply(double d) {
    const auto n = static_cast<double>(rule_.every);
    if (rule_.momentum == std::string("nesterov")) {
      v_ = kMu * v_ + d / n;
      y -= kOuterLr * (d / n + kMu * v_);
      return;
    }
    y -= kOuterLr * d / n;
    sum_ += d / n;
    if (++arrivals_ % rule_.every != 0) return;
    v_ = kMu * v_ + sum_;
    y -= kOuterLr * kMu * v_;
    sum_ = 0;
  }

  Rule rule_;
  std::vector<Worker> workers_ = std::vector<Worker>(kRanks);
  double v_ = 0, sum_ = 0, now_s_ = 0;
  long arrivals_ = 0;
};

class AsyncDiLoCoRule : public AffineTest {
 protected:
  static Json spec(const Rule& rule) {
    return {{"name", "async_diloco"},        {"sync_every", rule.sync_every},
            {"momentum", rule.momentum},     {"momentum_every", rule.every},
            {"dynamic_steps", rule.dynamic}, {"outer_lr", kOuterLr},
            {"outer_momentum", kMu}};
  }
};

TEST_P(AsyncDiLoCoRule, FollowsTheEquations) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "the schedule needs exact times";
  for (const Rule& rule : {Rule{}, Rule{.every = 2}, Rule{.momentum = "nesterov"},
                           Rule{.dynamic = true}, Rule{.dynamic = true, .sync_every = 5}})
    for (const Json& servers : {Json(1), Json("all")}) {
      SCOPED_TRACE(testing::Message() << spec(rule) << servers);
      const Reference reference(rule);
      ASSERT_GT(reference.shortest_gap_s, 0.02) << "who is first must be clear";
      Json options = spec(rule);
      options["servers"] = servers;
      AffineTraining run = training(kRanks, options, kSteps, kSlope);
      run.delay = [](int rank, long) { return kPeriod[static_cast<std::size_t>(rank)]; };
      const auto ends = train(run);
      for (const double weight : common_weights(ends)) EXPECT_NEAR(weight, reference.y, 1e-5);
      for (std::size_t r = 0; r < kRanks; ++r) {
        long step = 0;
        for (std::size_t block = 0; block + 1 < reference.blocks[r].size(); ++block) {
          step += reference.blocks[r][block];
          EXPECT_NEAR(double{ends[r].path.at(static_cast<std::size_t>(step - 1))},
                      reference.begins[r][block], 1e-5)
              << "rank " << r << ", step " << step;
        }
      }
    }
}

/// With an outer learning rate of 0, servers change nothing, so every block begins at the same
/// weights, whatever a code of a worker's own change loses.
TEST_P(AsyncDiLoCoRule, PullsNothingOfAChangeThatTheServerDoesNotTake) {
  const Rule rule;
  Json options = spec(rule);
  options["outer_lr"] = 0;
  options["codec"] = {{"name", "sign"}};
  AffineTraining run = training(kRanks, options, kSteps, kSlope);
  run.numel = 43;
  run.tilt = 0.07;
  run.alternating = true;
  for (const AffineEnd& end : train(run))
    for (long step = rule.sync_every; step <= kSteps; step += rule.sync_every)
      EXPECT_EQ(end.path.at(static_cast<std::size_t>(step - 1)), 1) << step;
}

/// The slowest worker takes 3.7 times as long per step as the fastest, so it makes one step while
/// that one makes four.
TEST_P(AsyncDiLoCoRule, SlowWorkersMakeFewerSteps) {
  const Reference plain(Rule{}), dynamic(Rule{.dynamic = true});
  EXPECT_EQ(plain.blocks[0], (std::vector<long>{4, 4, 4}));
  EXPECT_EQ(dynamic.blocks[0], (std::vector<long>{4, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(dynamic.blocks[1], (std::vector<long>{4, 4, 4}));
  EXPECT_EQ(dynamic.blocks[2], (std::vector<long>{4, 2, 2, 2, 2}));
}

/// With one worker, every arrival makes an outer step of DiLoCo.
TEST_P(AsyncDiLoCoRule, OneWorkerIsDiLoCo) {
  const Json diloco = {
      {"name", "diloco"}, {"sync_every", 2}, {"outer_lr", kOuterLr}, {"outer_momentum", kMu}};
  const auto expected = common_weights(train(training(1, diloco, 8)));
  for (const char* momentum : {"delayed", "nesterov"})
    expect_near(common_weights(train(training(1, spec({momentum, 1, false, 2}), 8))), expected);
}

/// Without momentum, and if gradients do not depend on the weights, the order of arrivals does not
/// matter. The last block of 7 steps has one.
TEST_P(AsyncDiLoCoRule, NoChangeIsLost) {
  for (const int ranks : {2, 4})
    for (const Json& servers : {Json(1), Json(2), Json("all")})
      for (const bool dynamic : {false, true})
        for (const Json& codec : {Json("none"), Json("minmax_uint8")}) {
          SCOPED_TRACE(testing::Message() << ranks << " ranks, servers " << servers << codec);
          const Json options = {{"name", "async_diloco"}, {"sync_every", 3},
                                {"servers", servers},     {"dynamic_steps", dynamic},
                                {"outer_lr", kOuterLr},   {"outer_momentum", 0},
                                {"codec", codec}};
          const double sum = ranks * (ranks + 1) / 2.0, y = 1 - kOuterLr * kLr * 7 * sum / ranks;
          for (const double x : common_weights(train(training(ranks, options, 7, 0))))
            EXPECT_NEAR(x, y, codec == "none" ? 1e-5 : 1e-4 * sum);
        }
}

/// Between two changes of a worker, one of every other worker arrives.
TEST_P(AsyncDiLoCoRule, ChangesOfEqualWorkersAreOneRoundOld) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "needs workers of equal speed";
  Steps::Staleness all;
  for (const AffineEnd& end : train(training(4, spec({.every = 4, .sync_every = 2}), 100, 0.01))) {
    all.updates += end.staleness.updates;
    all.sum += end.staleness.sum;
  }
  EXPECT_EQ(all.updates, 4 * 50);
  EXPECT_NEAR(static_cast<double>(all.sum) / static_cast<double>(all.updates), 3, 0.2);
}

INSTANTIATE_TEST_SUITE_P(Worlds, AsyncDiLoCoRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::async_diloco_test
