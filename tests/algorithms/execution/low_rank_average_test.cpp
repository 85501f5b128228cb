// PowerSGD, compared with plain loops over its equations in f64.

#include <gtest/gtest.h>

#include "algorithms/execution/low_rank_average.h"
#include "core/random/philox.h"
#include "tests/oracles/powersgd_reference.h"
#include "tests/support/codec_testing.h"
#include "tests/support/worlds.h"

namespace trigram::test::low_rank_average_test {
namespace {

constexpr long kSteps = 3;
constexpr int kBucket = 5;
constexpr std::uint64_t kSeed = 11;
constexpr std::size_t kNumel = 83;  // a 9 x 10 matrix that is not full

using Vector = std::vector<double>;

/// The input of a rank in a step.
Vector input(int rank, long step) {
  Philox random(1, rank, step, Purpose::gradient_noise);
  Vector x(kNumel);
  for (double& v : x) v = random.normal();
  return x;
}

Vector mean(const std::vector<Vector>& inputs) {
  Vector result(inputs.at(0).size());
  for (const Vector& x : inputs)
    for (std::size_t i = 0; i < x.size(); ++i)
      result[i] += x[i] / static_cast<double>(inputs.size());
  return result;
}

/// The result on every rank, by step, concatenated.
Vector expected(int ranks, const LowRank& options) {
  PowerSgdReference reference({.rank = static_cast<std::size_t>(options.rank),
                               .error_feedback = options.error_feedback,
                               .warm_start = options.warm_start,
                               .seed = kSeed},
                              kBucket);
  Vector all;
  for (long t = 0; t < kSteps; ++t) {
    std::vector<Vector> inputs;
    for (int r = 0; r < ranks; ++r) inputs.push_back(input(r, t));
    const Vector result = reference.approximation(inputs, t);
    all.insert(all.end(), result.begin(), result.end());
  }
  return all;
}

class LowRankAverageTest : public WorldTest {
 protected:
  /// The results of every rank, by step, concatenated.
  std::vector<Values> results(const LowRank& options) {
    return vectors_in_world(world(), flat_cluster(ranks()), [&](Context ctx) {
      const Exchange average = low_rank_average(options, kSeed);
      Values all;
      for (long t = 0; t < kSteps; ++t) {
        const Vector own = input(ctx.world_rank, t);
        const Tensor x = tensor_of(ctx, {own.begin(), own.end()});
        average(ctx, x, {kBucket, t});
        all.insert(all.end(), x.floats().begin(), x.floats().end());
      }
      return all;
    });
  }
};

TEST_P(LowRankAverageTest, FollowsTheEquations) {
  for (const std::int64_t rank : {1, 3})
    for (const bool feedback : {true, false})
      for (const bool warm : {true, false}) {
        SCOPED_TRACE(testing::Message()
                     << "rank " << rank << ", feedback " << feedback << ", warm start " << warm);
        const LowRank options{.rank = rank, .error_feedback = feedback, .warm_start = warm};
        const Vector exact = expected(ranks(), options);
        const auto by_rank = results(options);
        ASSERT_EQ(by_rank.size(), static_cast<std::size_t>(ranks()));
        for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(by_rank[0][i], exact[i], 1e-4);
        for (const Values& values : by_rank) EXPECT_TRUE(same_bits(values, by_rank[0]));
      }
}

/// The factors have 5 * (9 + 10) elements, which are more than 83.
TEST_P(LowRankAverageTest, IsTheMeanIfTheFactorsAreLongerThanTheTensor) {
  const auto by_rank = results({.rank = 5});
  for (long t = 0; t < kSteps; ++t) {
    std::vector<Vector> inputs;
    for (int rank = 0; rank < ranks(); ++rank) inputs.push_back(input(rank, t));
    const Vector exact = mean(inputs);
    for (std::size_t i = 0; i < kNumel; ++i)
      EXPECT_NEAR(by_rank[0][static_cast<std::size_t>(t) * kNumel + i], exact[i], 1e-6);
  }
}

/// A first gradient of zero, as layers behind a zero have, or of rank 1 leaves fewer directions
/// than factors. Later gradients have all of them, and a power iteration must find them again.
TEST_P(LowRankAverageTest, FindsDirectionsThatTheFirstGradientLacked) {
  constexpr std::size_t kSide = 12;
  const auto element = [](long step, std::size_t i, bool is_zero) -> float {
    const std::size_t row = i / kSide, col = i % kSide;
    if (step == 0) return is_zero ? 0.f : 1.f;
    return row == col && row < 2 ? static_cast<float>(4 - row) : 0.f;  // of rank 2
  };
  for (const bool is_zero : {true, false})
    for (const bool coded : {false, true}) {
      SCOPED_TRACE(testing::Message() << (is_zero ? "zero" : "rank 1") << ", coded " << coded);
      LowRank options{.rank = 2, .error_feedback = false};
      if (coded) options.codec = {.name = "int4"};
      const auto by_rank = vectors_in_world(world(), flat_cluster(ranks()), [&](Context ctx) {
        const Exchange average = low_rank_average(options, kSeed);
        Tensor x;
        for (long t = 0; t < 12; ++t) {
          Values own(kSide * kSide);
          for (std::size_t i = 0; i < own.size(); ++i) own[i] = element(t, i, is_zero);
          x = tensor_of(ctx, own);
          average(ctx, x, {kBucket, t});
        }
        return Values(x.floats().begin(), x.floats().end());
      });
      for (const std::size_t i : {std::size_t{0}, kSide + 1})
        EXPECT_NEAR(by_rank[0][i], element(1, i, is_zero), coded ? 1 : 1e-3) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Worlds, LowRankAverageTest, every_world(1, 4, 8), world_test_name);

}  // namespace
}  // namespace trigram::test::low_rank_average_test
