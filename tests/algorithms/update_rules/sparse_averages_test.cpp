// Averages of sparse vectors whose elements all ranks select together, compared bitwise with plain
// loops over their equations. The largest elements of the vectors differ from rank to rank.

#include <gtest/gtest.h>

#include <functional>

#include "algorithms/execution/averages.h"
#include "algorithms/execution/regional_average.h"
#include "core/random/philox.h"
#include "tests/algorithms/update_rules/coded_gradients.h"
#include "tests/algorithms/update_rules/sparse_averages.h"
#include "tests/support/codec_testing.h"

namespace trigram::test::sparse_averages_test {
namespace {

using namespace sparse;

constexpr int kBucketsOfAverage = 2;
constexpr long kStepsOfAverage = 24;
constexpr std::size_t kElements = 43;  // parts differ in length

/// The input of a rank. The first elements are larger.
Vector input(int rank, Slot slot) {
  Philox random(1, rank, slot.step * kBucketsOfAverage + slot.bucket, Purpose::gradient_noise);
  Vector x(kElements);
  for (std::size_t i = 0; i < kElements; ++i)
    x[i] = (i < kElements / 4 ? 2.0f : 1.0f) * random.normal();
  return x;
}

class SparseAverages : public WorldTest {
 protected:
  /// Rank 0's results, bucket by bucket in every step, concatenated.
  Vector results(const std::function<Exchange()>& make) {
    const auto by_rank = vectors_in_world(world(), flat_cluster(ranks()), [&](Context ctx) {
      const Exchange average = make();
      Vector all;
      for (long step = 0; step < kStepsOfAverage; ++step)
        for (int bucket = 0; bucket < kBucketsOfAverage; ++bucket) {
          const Tensor x = tensor_of(ctx, input(ctx.world_rank, {bucket, step}));
          average(ctx, x, {bucket, step});
          const auto values = ctx.device->download(x);
          all.insert(all.end(), values.begin(), values.end());
        }
      return all;
    });
    for (const Vector& values : by_rank) EXPECT_TRUE(same_bits(values, by_rank.at(0)));
    return by_rank.at(0);
  }
  Vector expected(const Reference& reference) const {
    Vector all;
    for (long step = 0; step < kStepsOfAverage; ++step)
      for (int bucket = 0; bucket < kBucketsOfAverage; ++bucket) {
        Vectors x;
        for (int rank = 0; rank < ranks(); ++rank) x.push_back(input(rank, {bucket, step}));
        const Vector mean = reference(x, bucket, step);
        all.insert(all.end(), mean.begin(), mean.end());
      }
    return all;
  }
  /// Checks that the result follows `rule` and, if there are enough ranks to differ, none of
  /// `others`.
  void check(const std::function<Exchange()>& make, const Reference& rule,
             const std::vector<Reference>& others) {
    const Vector exact = expected(rule);
    EXPECT_EQ(results(make), exact);
    for (std::size_t i = 0; i < others.size() && ranks() > 4; ++i)
      EXPECT_GT(largest_difference({exact}, {expected(others[i])}), 1e-2) << "other rule " << i;
  }
};

TEST_P(SparseAverages, GTopKKeepsTheLargestOfEverySumOnTheWayUp) {
  const double density = 0.2;
  GTopK rule{density}, forgets = rule, drops = rule, adds = rule;
  forgets.keeps_rest = false;
  drops.puts_back = false;
  adds.merges = false;
  check(
      [&] {
        return tree_average({{"topk", {{"density", density}}}, true});
      },
      rule(), {forgets(), drops(), adds()});
}

TEST_P(SparseAverages, OkTopKAddsUpRegionsAndKeepsTheLargestOfAll) {
  const Regional options{
      .density = 0.2, .slack = 1.25, .threshold_every = 20, .rebalance_every = 2};
  const OkTopK rule{options.density, options.slack, options.threshold_every,
                    options.rebalance_every};
  const auto changed_rule = [&](const auto& change) {
    OkTopK other = rule;
    change(other);
    return other();
  };
  check([&] { return regional_average(options); }, rule(),
        {changed_rule([](OkTopK& o) { o.keeps_rest = false; }),
         changed_rule([](OkTopK& o) { o.puts_back = false; }),
         changed_rule([](OkTopK& o) { o.limits_rank = false; }),
         changed_rule([](OkTopK& o) { o.limits_owner = false; }),
         changed_rule([](OkTopK& o) { o.rebalance_every = kStepsOfAverage; }),
         changed_rule([](OkTopK& o) { o.slack = 2; }),
         changed_rule([](OkTopK& o) { o.threshold_every = 1; }),
         changed_rule([](OkTopK& o) { o.corrects_own = false; }),
         changed_rule([](OkTopK& o) { o.corrects_common = false; })});
}

/// If messages are long enough for all elements, all of them are averaged, and residuals are 0.
TEST_P(SparseAverages, OkTopKOfAllElementsIsTheMean) {
  const auto mean = [](const Vectors& inputs, int, long) {
    Vector sum = inputs[0];
    for (std::size_t r = 1; r < inputs.size(); ++r) add(inputs[r], sum);
    for (float& v : sum) v *= 1.0f / static_cast<float>(inputs.size());
    return sum;
  };
  check([&] { return regional_average({.density = 1, .slack = 8, .threshold_every = 1}); }, mean,
        {});
}

INSTANTIATE_TEST_SUITE_P(Worlds, SparseAverages, every_world(1, 2, 3, 4, 5, 7, 8), world_test_name);

/// The same averages in training runs, flat and hierarchical.
class SparseSgd : public coded::CodedGradients {};

TEST_P(SparseSgd, GTopKStepsAlongTheMeanOfTheLargestElements) {
  const auto by = [](double density, bool keeps_rest) {
    return [=](const coded::WorkerSetup&) -> coded::Average {
      return GTopK{density, keeps_rest}();
    };
  };
  check({{"name", "gtopk"}, {"density", 0.2}}, by(0.2, true),
        {coded::exact, by(0.2, false), by(0.1, true)});
}

TEST_P(SparseSgd, OkTopKStepsAlongTheMeanOfTheLargestElements) {
  const auto by = [](double density, double slack, long rebalance_every) {
    return [=](const coded::WorkerSetup&) -> coded::Average {
      return OkTopK{density, slack, 2, rebalance_every}();
    };
  };
  check({{"name", "oktopk"},
         {"density", 0.2},
         {"slack", 1.25},
         {"threshold_every", 2},
         {"rebalance_every", 2}},
        by(0.2, 1.25, 2), {coded::exact, by(0.1, 1.25, 2), by(0.2, 2, 2), by(0.2, 1.25, 64)});
}

INSTANTIATE_TEST_SUITE_P(Worlds, SparseSgd, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::sparse_averages_test
