#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <ostream>
#include <set>
#include <string>

#include "algorithms/registry.h"
#include "core/random/philox.h"
#include "tests/support/affine_workload.h"
#include "tests/support/worlds.h"

// How far the models of WAGMA-SGD's workers are from their mean just before an average over all, by
// the kind and the size of groups. It is why the paper has groups at all, and why they change.
//
// Workers that add nothing but independent noise of variance v to every weight in every step are at
//
//   v sum over k of (2^-c_k - 1/P)
//
// in the mean of squares, where k = 0 .. tau - 1 are the steps since the last average over all, and
// the noise of step k has been averaged over 2^c_k workers: c_k counts the different bits of ranks
// that the groups of the steps k .. tau - 2 have joined.

namespace trigram::test {
namespace {

constexpr int kRanks = 64, kRankBits = 6;
constexpr long kTau = 10, kPeriods = 2;
constexpr std::size_t kDimension = 8192;
constexpr std::uint64_t kSeed = 1;

/// A step of noise of variance 1 instead of one along the gradient. Keeps the weights that it
/// leaves just before each average over all.
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
    left.insert(left.end(), weights.begin(), weights.end());
  }
  float learning_rate(const Bucket& /*bucket*/) const override { return 0; }

  std::vector<float> left;  // of all periods, bucket by bucket

 private:
  int rank_;
  std::vector<long> steps_;  // that each bucket has made
};

struct Groups {
  std::string name;
  Json algorithm;
  int bits = 0;          // of a rank that a group joins: lg S
  bool dynamic = false;  // else the same bits in every step
  double in_steps = 0;   // of the formula, rounded, for the reader
};

void PrintTo(const Groups& groups, std::ostream* out) { *out << groups.name; }

Groups none() { return {"none", {{"name", "local_sgd"}, {"sync_every", kTau}}, 0, false, 9.84}; }

Groups of(int size, const char* grouping, double in_steps) {
  return {grouping + std::to_string(size),
          {{"name", "wagma"}, {"tau", kTau}, {"group_size", size}, {"grouping", grouping}},
          std::countr_zero(static_cast<unsigned>(size)),
          std::string(grouping) == "dynamic",
          in_steps};
}

/// The formula.
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

/// What a rank's weights are just before each average over all; fails the test if it was ever late.
std::string train(Context ctx, const Json& algorithm) {
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
  const auto bytes = std::as_bytes(std::span(optimizer.left));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The mean square of how far ranks are from the mean of all, over the elements of their vectors.
double variance(const std::vector<std::string>& by_rank) {
  std::vector<double> sum, squares;
  for (const std::string& bytes : by_rank) {
    std::vector<float> x(bytes.size() / sizeof(float));
    std::memcpy(x.data(), bytes.data(), bytes.size());
    sum.resize(x.size());
    squares.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum[i] += double{x[i]};
      squares[i] += double{x[i]} * double{x[i]};
    }
  }
  const auto P = static_cast<double>(by_rank.size());
  double total = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) total += squares[i] / P - sum[i] * sum[i] / (P * P);
  return total / static_cast<double>(sum.size());
}

class GroupVariance : public ::testing::TestWithParam<Groups> {};

/// The standard error is 0.2 % at most: that of fixed groups of 16, of which there are 4.
TEST_P(GroupVariance, IsThatOfTheFormulaToOnePerCent) {
  const Groups& groups = GetParam();
  const double expected = expected_variance(groups);
  EXPECT_NEAR(expected, groups.in_steps, 0.006);
  const auto weights = results_in_world("sim", flat_cluster(kRanks),
                                        [&](Context ctx) { return train(ctx, groups.algorithm); });
  ASSERT_EQ(weights.size(), kRanks);
  ASSERT_EQ(weights[0].size(), kPeriods * kDimension * sizeof(float));
  EXPECT_NEAR(variance(weights), expected, 0.01 * expected);
}

INSTANTIATE_TEST_SUITE_P(Wagma, GroupVariance,
                         ::testing::Values(none(), of(4, "fixed", 3.09), of(8, "fixed", 1.97),
                                           of(16, "fixed", 1.41), of(2, "dynamic", 1.88),
                                           of(4, "dynamic", 1.27), of(8, "dynamic", 1.09),
                                           of(16, "dynamic", 1.03), of(64, "dynamic", 0.98)),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace trigram::test
