// DSGD-AAU with a known order in which workers finish, compared with plain loops over its
// equations; and the quantities that it conserves in any order.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "algorithms/peers/registry.h"
#include "tests/support/affine_training.h"
#include "tests/support/mixing.h"
#include "tests/support/worlds.h"

namespace trigram::test::dsgd_aau_test {
namespace {

constexpr double kLr = 0.125, kSlope = 0.5;
constexpr std::size_t kRanks = 5;
constexpr long kSteps = 6;

// The start of each rank's first step, and the duration of its steps, in seconds. Everything else
// takes milliseconds.
constexpr double kStart[kRanks] = {0.5, 3.1, 1.7, 4.3, 2.9};
constexpr double kPeriod[kRanks] = {7.31, 11.83, 5.57, 31.37, 9.17};

/// Applies the equations, worker by worker as they finish. All weights of a worker are equal, so
/// one number is enough.
class Reference {
 public:
  explicit Reference(const char* graph)
      : w_(assemble(*make_peer_graph({graph}), kRanks, 0)), x_(kRanks, 1), paths_(kRanks) {
    for (std::size_t r = 0; r < kRanks; ++r) next_s_.push_back(kStart[r]);
    while (last_.size() < kRanks) finish(next());
    for (std::size_t r = 0; r < kRanks; ++r) paths_[r].push_back(x_[r]);
  }
  const std::vector<double>& weights() const { return x_; }
  /// The weights of a worker after each of its steps.
  const std::vector<std::vector<double>>& paths() const { return paths_; }
  /// The shortest time between the ends of two workers' steps.
  double shortest_gap_s() const { return shortest_gap_s_; }
  std::size_t largest_iteration() const { return largest_; }

 private:
  static constexpr double kNever = 1e9;

  std::size_t next() {
    const auto first = std::min_element(next_s_.begin(), next_s_.end());
    shortest_gap_s_ = std::min(shortest_gap_s_, *first - now_s_);
    now_s_ = *first;
    *first = kNever;
    return static_cast<std::size_t>(first - next_s_.begin());
  }

  void finish(std::size_t r) {
    x_[r] -= kLr * (kSlope * x_[r] + static_cast<double>(r + 1));
    waiting_.insert(r);
    if (++steps_[r] == kSteps) last_.insert(r);
    bool any = false;
    for (const std::size_t i : waiting_)
      for (const std::size_t j : waiting_)
        if (w_[i][j] > 0 && !connected(i, j)) any = accepted_.emplace(i, j).second;
    if (any) end_iteration();
  }

  /// True if the edges accepted so far connect the two workers.
  bool connected(std::size_t from, std::size_t to) const {
    std::set<std::size_t> reached = {from};
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const auto& [i, j] : accepted_)
        if (reached.contains(i) || reached.contains(j)) reached.insert({i, j});
    }
    return reached.contains(to);
  }

  void end_iteration() {
    const auto degree = [&](std::size_t i) {
      return std::count_if(waiting_.begin(), waiting_.end(),
                           [&](std::size_t j) { return j != i && w_[i][j] > 0; });
    };
    const std::vector<double> z = x_;
    for (const std::size_t i : waiting_)
      for (const std::size_t j : waiting_)
        if (j != i && w_[i][j] > 0)
          x_[i] += (z[j] - z[i]) / static_cast<double>(1 + std::max(degree(i), degree(j)));
    largest_ = std::max(largest_, waiting_.size());
    for (const std::size_t i : waiting_) {
      if (last_.contains(i)) continue;
      paths_[i].push_back(x_[i]);
      next_s_[i] = now_s_ + kPeriod[i];
    }
    waiting_ = last_;
    bool all = true;
    for (std::size_t r = 1; r < kRanks; ++r) all = all && connected(0, r);
    if (all) accepted_.clear();
  }

  const Matrix w_;
  std::vector<double> x_, next_s_;
  std::vector<std::vector<double>> paths_;
  std::set<std::size_t> waiting_, last_;
  std::set<std::pair<std::size_t, std::size_t>> accepted_;
  long steps_[kRanks] = {};
  double now_s_ = 0, shortest_gap_s_ = kNever;
  std::size_t largest_ = 0;
};

class DsgdAauRule : public AffineTest {};

TEST_P(DsgdAauRule, FollowsTheEquations) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "the schedule needs exact times";
  std::size_t largest = 0;
  for (const char* graph : {"ring", "star", "complete", "grid"}) {
    SCOPED_TRACE(graph);
    const Reference reference(graph);
    ASSERT_GT(reference.shortest_gap_s(), 0.05) << "who is first must be clear";
    largest = std::max(largest, reference.largest_iteration());
    AffineTraining run = training(kRanks, {{"name", "dsgd_aau"}, {"graph", graph}}, kSteps, kSlope);
    run.delay = [](int rank, long t) {
      const auto r = static_cast<std::size_t>(rank);
      return t == 0 ? kStart[r] : kPeriod[r];
    };
    const auto ends = train(run);
    expect_near(common_weights(ends), reference.weights());
    for (std::size_t r = 0; r < ends.size(); ++r)
      expect_near({ends[r].path.begin(), ends[r].path.end()}, reference.paths()[r]);
  }
  EXPECT_GT(largest, 3u) << "more than pairs";
}

/// If gradients do not depend on the weights, the mean model follows the mean gradient, whichever
/// workers average, and whenever they do. Averages also bring models together.
TEST_P(DsgdAauRule, ConservesTheMean) {
  constexpr long kMany = 40;
  for (const int ranks : {1, 2, 3, 5, 8})
    for (const char* graph : {"ring", "star", "complete"}) {
      SCOPED_TRACE(testing::Message() << graph << " of " << ranks);
      const auto x = common_weights(
          train(training(ranks, {{"name", "dsgd_aau"}, {"graph", graph}}, kMany, /*slope=*/0)));
      ASSERT_EQ(x.size(), static_cast<std::size_t>(ranks));
      EXPECT_NEAR(mean(x), 1 - kLr * kMany * (ranks + 1) / 2.0, 2e-4);
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      if (is_simulated(GetParam()) && ranks > 1) {
        EXPECT_LT(*high - *low, 0.5 * kLr * kMany * (ranks - 1)) << "less than without averages";
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Worlds, DsgdAauRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::dsgd_aau_test
