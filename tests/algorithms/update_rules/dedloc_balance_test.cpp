// DeDLOC whose mini-batches are dealt by measured throughputs, as in SWARM.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "algorithms/asynchronous/throughput_balancer.h"
#include "core/random/philox.h"
#include "tests/algorithms/update_rules/centralised_rules.h"

namespace trigram::test::dedloc_balance_test {
namespace {

using namespace centralised;

/// If every mini-batch goes to the rank that is free first, rank i begins its k-th one at k / s_i,
/// for s_i mini-batches per second. So the first `batches` of all these times are those that are
/// dealt, for equal times from the lowest rank on. `gap_s`, if given, becomes the distance to the
/// next time.
std::vector<long> first_times(long batches, const std::vector<double>& batches_per_s,
                              double* gap_s = nullptr) {
  std::vector<std::pair<double, std::size_t>> times;
  for (std::size_t rank = 0; rank < batches_per_s.size(); ++rank)
    for (long k = 0; k <= batches; ++k)
      times.push_back({static_cast<double>(k) / batches_per_s[rank], rank});
  std::ranges::sort(times);
  std::vector<long> counts(batches_per_s.size());
  const auto end = static_cast<std::size_t>(batches);
  for (std::size_t i = 0; i < end; ++i) ++counts[times[i].second];
  if (gap_s) *gap_s = times[end].first - times[end - 1].first;
  return counts;
}

TEST(DealByThroughput, IsListScheduling) {
  Philox random(1, 0, 0, Purpose::peers);
  for (const std::size_t ranks : {1u, 2u, 5u, 16u})
    for (const long batches : {16, 17, 40, 333}) {
      std::vector<double> batches_per_s;
      for (std::size_t rank = 0; rank < ranks; ++rank)
        batches_per_s.push_back(0.25 * (1 + random.below(16)));  // many times are equal
      const std::vector<std::int64_t> ones(ranks, 1);
      const std::vector<long> counts = deal_by_throughput(batches, ones, batches_per_s);
      EXPECT_EQ(counts, first_times(batches, batches_per_s));
      // The last mini-batch begins while no rank is idle, so it ends at most its own duration after
      // the time in which all ranks together could do the work.
      const double together = std::accumulate(batches_per_s.begin(), batches_per_s.end(), 0.0);
      const double slowest = *std::ranges::min_element(batches_per_s);
      for (std::size_t rank = 0; rank < ranks; ++rank)
        EXPECT_LE(static_cast<double>(counts[rank]) / batches_per_s[rank],
                  static_cast<double>(batches) / together + 1 / slowest);
    }
}

/// Mini-batches of different sizes are dealt until there are enough samples, but every rank gets
/// one.
TEST(DealByThroughput, CountsSamples) {
  const std::vector<std::int64_t> batch = {3, 5};
  const std::vector<double> equal = {1, 1}, uneven = {1, 4};
  EXPECT_EQ(deal_by_throughput(1, batch, equal), (std::vector<long>{1, 1}));
  EXPECT_EQ(deal_by_throughput(8, batch, equal), (std::vector<long>{1, 1}));
  EXPECT_EQ(deal_by_throughput(9, batch, equal), (std::vector<long>{2, 1}));
  // The second rank begins at 0, 1/4, 2/4, 3/4 and 1, after the first rank at 1.
  EXPECT_EQ(deal_by_throughput(23, batch, uneven), (std::vector<long>{1, 4}));
  EXPECT_EQ(deal_by_throughput(24, batch, uneven), (std::vector<long>{2, 4}));
  EXPECT_EQ(deal_by_throughput(27, batch, uneven), (std::vector<long>{2, 5}));
}

struct Case {
  int ranks;
  long batches, steps;
  double smoothing;
  std::function<double(int rank, long step)> slowdown;
};

/// The weight after each step, if exact durations are measured.
std::vector<double> reference(const Case& c) {
  const auto ranks = static_cast<std::size_t>(c.ranks);
  std::vector<double> path, estimates(ranks, 1), weighted_s(ranks);
  double weights = 0;
  double x = 1;
  for (long t = 0; t < c.steps; ++t) {
    double gap_s = 0;
    const std::vector<long> counts = first_times(c.batches, estimates, &gap_s);
    // A worker also spends some microseconds on sums, which this reference leaves out.
    if (t > 0) {
      EXPECT_GT(gap_s, 0.05) << t;
    }
    double sum = 0;
    for (std::size_t r = 0; r < estimates.size(); ++r)
      sum += static_cast<double>(counts[r]) * gradient(x, r);
    x -= kLr * sum / static_cast<double>(c.batches);
    path.push_back(x);
    weights = (1 - c.smoothing) * weights + 1;
    for (std::size_t r = 0; r < ranks; ++r) {
      weighted_s[r] = (1 - c.smoothing) * weighted_s[r] + c.slowdown(static_cast<int>(r), t);
      estimates[r] = weights / weighted_s[r];
    }
  }
  return path;
}

class DedlocBalance : public AffineTest {
 protected:
  /// Mini-batches of a worker that is not slowed down take 60 ms.
  static void check(const Case& c) {
    AffineTraining run = training(c.ranks,
                                  {{"name", "dedloc"},
                                   {"target_batch", c.batches},
                                   {"balance", "throughput"},
                                   {"smoothing", c.smoothing}},
                                  c.steps, kSlope);
    run.compute_s = 0.02;
    run.slowdown = c.slowdown;
    const auto actual = paths(train(run));
    const std::vector<double> expected = reference(c);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t t = 0; t < actual.size(); ++t) {
      SCOPED_TRACE(t);
      expect_near(actual[t], std::vector<double>(static_cast<std::size_t>(c.ranks), expected[t]));
    }
  }
};

/// The last worker is slow at first, and later the first one. The counts are 4 3 3 3, then 4 4 4 1
/// until the change has been measured, and then 1 4 4 4; they tolerate errors of a third.
TEST_P(DedlocBalance, FollowsAWorkerThatSlowsDown) {
  check({.ranks = 4, .batches = 13, .steps = 4, .smoothing = 1, .slowdown = [](int rank, long t) {
           return rank == (t < 2 ? 3 : 0) ? 4.0 : 1.0;
         }});
}

INSTANTIATE_TEST_SUITE_P(Worlds, DedlocBalance, every_named_world(), named_world_test_name);

class DedlocEstimates : public DedlocBalance {};

/// The average of durations approaches a worker's new speed exponentially.
TEST_P(DedlocEstimates, AreMovingAverages) {
  for (const double smoothing : {0.2, 0.7})
    check({.ranks = 4,
           .batches = 79,
           .steps = 20,
           .smoothing = smoothing,
           .slowdown = [](int rank, long t) {
             return 1 + 0.37 * rank + (rank == 2 && t >= 5 && t < 12 ? 4 : 0);
           }});
}

INSTANTIATE_TEST_SUITE_P(Simulated, DedlocEstimates, ::testing::Values("sim"),
                         named_world_test_name);

}  // namespace
}  // namespace trigram::test::dedloc_balance_test
