#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <set>
#include <string>

#include "algorithms/registry.h"
#include "core/random/philox.h"
#include "tests/support/affine_workload.h"
#include "tests/support/worlds.h"

// The distance of WAGMA-SGD's models from their mean just before a global average, for different
// kinds and sizes of groups. Because of this distance the paper uses groups, and changes them in
// every step.
//
// If workers only add independent noise of variance v to every weight in every step, the mean
// square of this distance is
//
//   v sum over k of (2^-c_k - 1/P)
//
// where k = 0 .. tau - 1 are the steps since the last global average, and the noise of step k has
// been averaged over 2^c_k workers: c_k is the number of different bits of ranks over which the
// groups of the steps k .. tau - 2 have averaged.

namespace trigram::test::group_variance_test {
namespace {

constexpr int kRanks = 64, kRankBits = 6;
constexpr long kTau = 10, kPeriods = 2;
constexpr std::size_t kDimension = 8192;
constexpr std::uint64_t kSeed = 1;

/// An optimizer that adds noise of variance 1 instead of following the gradient. Records the
/// weights that it leaves just before each global average.
class NoiseSteps final : public Optimizer {
 public:
  NoiseSteps(int rank, std::size_t buckets) : rank_(rank), steps_(buckets, 0) {}

  void step(Context /*ctx*/, Bucket& bucket) override {
    const auto index = static_cast<std::size_t>(bucket.index);
    const long step = steps_[index]++;
    const auto stream = step * static_cast<long>(steps_.size()) + bucket.index;
    Philox random(kSeed, rank_, stream, Purpose::gradient_noise);
    for (float& w : bucket.weight.floats()) w += random.normal();
    if ((step + 1) % kTau != 0) return;
    const auto weights = bucket.weight.floats();
    recorded.insert(recorded.end(), weights.begin(), weights.end());
  }
  float learning_rate(const Bucket& /*bucket*/) const override { return 0; }
  void rebucket(Context /*ctx*/, Workload& /*workload*/) override {}
  void visit_state(StateVisitor& /*visitor*/) override {}

  std::vector<float> recorded;  // of all periods, bucket by bucket

 private:
  int rank_;
  std::vector<long> steps_;  // number of steps of each bucket
};

struct Groups {
  std::string name;
  Json algorithm;
  int bits = 0;                 // lg S, the number of bits of a rank over which a group averages
  bool dynamic = false;         // false: the same bits in every step
  double rounded_variance = 0;  // value of the formula, for readers of this file
};

void PrintTo(const Groups& groups, std::ostream* out) { *out << groups.name; }

Groups no_groups() {
  return {"none", {{"name", "local_sgd"}, {"sync_every", kTau}}, 0, false, 9.84};
}

Groups groups_of(int size, const char* grouping, double rounded_variance) {
  return {grouping + std::to_string(size),
          {{"name", "wagma"}, {"tau", kTau}, {"group_size", size}, {"grouping", grouping}},
          std::countr_zero(static_cast<unsigned>(size)),
          std::string(grouping) == "dynamic",
          rounded_variance};
}

/// The formula above.
double expected_variance(const Groups& groups) {
  double variance = 0;
  for (long k = 0; k < kTau; ++k) {
    std::set<long> joined;
    for (long t = k; t <= kTau - 2; ++t)
      for (int r = 0; r < groups.bits; ++r)
        joined.insert(((groups.dynamic ? t : 0) * groups.bits + r) % kRankBits);
    variance += 1.0 / static_cast<double>(1 << joined.size()) - 1.0 / kRanks;
  }
  return variance;
}

/// A rank's weights just before each global average; fails the test if the rank was ever late.
std::vector<float> train(Context ctx, const Json& algorithm) {
  AffineWorkload workload(ctx, kDimension, 0);
  workload.bucketize(0);
  NoiseSteps optimizer(ctx.world_rank, workload.buckets().size());
  Steps steps(kPeriods * kTau);
  const auto& entry = find_component(algorithms(), "algorithm", algorithm, "");
  const Json resolved =
      component_options(resolve_component(algorithms(), "algorithm", algorithm, ""));
  Run run{workload, optimizer, steps, entry.traits(resolved).execution};
  entry.make(resolved)->train(ctx, run);
  EXPECT_EQ(steps.take_staleness().max, 0) << "rank " << ctx.world_rank;
  return optimizer.recorded;
}

/// The mean square distance of ranks from the mean over all ranks, over the elements of their
/// vectors.
double variance(const std::vector<std::vector<float>>& by_rank) {
  std::vector<double> sum(by_rank[0].size()), squares(sum.size());
  for (const std::vector<float>& x : by_rank)
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum[i] += double{x[i]};
      squares[i] += double{x[i]} * double{x[i]};
    }
  const auto P = static_cast<double>(by_rank.size());
  double total = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) total += squares[i] / P - sum[i] * sum[i] / (P * P);
  return total / static_cast<double>(sum.size());
}

class GroupVariance : public ::testing::TestWithParam<Groups> {};

/// The standard error is at most 0.2 %, for fixed groups of 16, of which there are four.
TEST_P(GroupVariance, FollowsTheFormulaToOnePerCent) {
  const Groups& groups = GetParam();
  const double expected = expected_variance(groups);
  EXPECT_NEAR(expected, groups.rounded_variance, 0.006);
  const auto weights = vectors_in_world("sim", flat_cluster(kRanks),
                                        [&](Context ctx) { return train(ctx, groups.algorithm); });
  ASSERT_EQ(weights.size(), kRanks);
  ASSERT_EQ(weights[0].size(), kPeriods * kDimension);
  EXPECT_NEAR(variance(weights), expected, 0.01 * expected);
}

INSTANTIATE_TEST_SUITE_P(
    Wagma, GroupVariance,
    ::testing::Values(no_groups(), groups_of(4, "fixed", 3.09), groups_of(8, "fixed", 1.97),
                      groups_of(16, "fixed", 1.41), groups_of(2, "dynamic", 1.88),
                      groups_of(4, "dynamic", 1.27), groups_of(8, "dynamic", 1.09),
                      groups_of(16, "dynamic", 1.03), groups_of(64, "dynamic", 0.98)),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace trigram::test::group_variance_test
