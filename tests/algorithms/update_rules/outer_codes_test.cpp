// DiLoCo with codes of differences, SPARTA with outer steps, and local SGD with an adapted period,
// compared with plain loops over their equations.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/algorithms/update_rules/coded_gradients.h"

namespace trigram::test::outer_codes_test {
namespace {

using namespace coded;

constexpr double kOuterLr = 0.6, kMu = 0.8;
constexpr std::size_t kRanks = 4;
constexpr long kLong = 8;

/// The weights after `kLong` steps in blocks of two, whose differences `average` replaces by one.
template <class Mean>
std::vector<double> blocks(Mean mean_of) {
  std::vector<double> y(kNumel, 1), v(kNumel, 0);
  Vectors x(kRanks, Vector(kNumel, 1));
  for (long t = 0; t < kLong; ++t) {
    for (std::size_t r = 0; r < kRanks; ++r)
      for (std::size_t i = 0; i < kNumel; ++i) {
        const float offset = static_cast<float>(r + 1) * (1 + kTilt * static_cast<float>(i));
        x[r][i] -= kLr * (kSlope * x[r][i] + (i % 2 == 0 ? offset : -offset));
      }
    if (t % 2 == 0) continue;
    Vectors differences = x;
    for (Vector& d : differences)
      for (std::size_t i = 0; i < kNumel; ++i) d[i] = static_cast<float>(y[i]) - d[i];
    const Vector d = mean_of(differences, t);
    for (std::size_t i = 0; i < kNumel; ++i) {
      v[i] = kMu * v[i] + double{d[i]};
      y[i] -= kOuterLr * (double{d[i]} + kMu * v[i]);
    }
    for (Vector& own : x)
      std::ranges::transform(y, own.begin(), [](double w) { return static_cast<float>(w); });
  }
  return y;
}

/// The sums of a ring of P ranks: part j is summed in the order j+1, j+2, ..., j, and every partial
/// sum is encoded on its way, and so is the mean.
Vector ring_mean(const Vectors& xs, const Coder& code) {
  const std::size_t P = xs.size();
  Vector mean;
  for (std::size_t j = 0; j < P; ++j) {
    const auto part = [&](std::size_t r) {
      const std::size_t begin = kNumel * j / P, end = kNumel * (j + 1) / P;
      return Vector(xs[r % P].begin() + static_cast<std::ptrdiff_t>(begin),
                    xs[r % P].begin() + static_cast<std::ptrdiff_t>(end));
    };
    Vector sum = part(j + 1);
    for (std::size_t hop = 2; hop <= P; ++hop) {
      const Vector own = part(j + hop), arrived = code(sum);
      for (std::size_t i = 0; i < own.size(); ++i) sum[i] = arrived[i] + own[i];
    }
    for (float& s : sum) s /= static_cast<float>(P);
    const Vector decoded = code(sum);
    mean.insert(mean.end(), decoded.begin(), decoded.end());
  }
  return mean;
}

class OuterCodesRule : public AffineTest {
 protected:
  static AffineTraining run_of(Json spec) {
    spec.update({{"sync_every", 2}, {"outer_lr", kOuterLr}, {"outer_momentum", kMu}});
    AffineTraining run = training(kRanks, spec, kLong, double{kSlope});
    run.lr = double{kLr};
    run.numel = kNumel;
    run.tilt = double{kTilt};
    run.alternating = true;
    return run;
  }
  /// Returns how far all workers are from the weights, at most.
  static double distance(const std::vector<AffineEnd>& ends, const std::vector<double>& y) {
    double largest = 0;
    for (const AffineEnd& end : ends)
      for (std::size_t i = 0; i < kNumel; ++i)
        largest = std::max(largest, std::abs(double{end.weights.at(i)} - y[i]));
    return largest;
  }
};

TEST_P(OuterCodesRule, DiLoCoAveragesCodesOfDifferences) {
  const auto exact = blocks([](const Vectors& d, long t) { return plain_mean(d, 0, t); });
  for (const bool feedback : {false, true})
    for (const Json& codec : {Json{{"name", "topk"}, {"density", 0.3}}, Json{{"name", "bf16"}}}) {
      SCOPED_TRACE(testing::Message() << codec << feedback);
      const CodecSpec spec{codec.at("name"), codec};
      CodedAverageReference reference(spec, feedback, kSeed, {0, 1, 2, 3});
      const auto y = blocks([&](const Vectors& d, long t) { return reference.gathered(d, 0, t); });
      const auto ends =
          train(run_of({{"name", "diloco"}, {"codec", codec}, {"error_feedback", feedback}}));
      EXPECT_LT(distance(ends, y), 1e-3);
      EXPECT_GT(distance(ends, exact), 2e-3) << "the code loses something";
    }
}

/// bf16 rounds values, and its code needs no state.
TEST_P(OuterCodesRule, ARingEncodesEverySum) {
  const Coder code = plain_coder({"bf16", Json::object()}, {});
  const auto y = blocks([&](const Vectors&d, long) { return ring_mean(d, code); }),
             exact = blocks([](const Vectors&d, long t) { return plain_mean(d, 0, t); });
  const auto ends = train(run_of({{"name", "diloco"}, {"codec", "bf16"}, {"reduction", "ring"}}));
  EXPECT_LT(distance(ends, y), 2e-3);
  EXPECT_GT(distance(ends, exact), 2 * distance(ends, y));
  for (const AffineEnd& end : ends) EXPECT_EQ(end.weights, ends[0].weights);
}

/// If all weights are averaged in every step, the workers never differ.
TEST_P(OuterCodesRule, SpartaMakesOuterSteps) {
  double x = 1, y = 1, v = 0;
  for (int t = 1; t <= 8; ++t) {
    x -= 0.125 * (0.5 * x + 2.5);
    if (t % 2 != 0) continue;
    v = kMu * v + y - x;
    y -= kOuterLr * (y - x + kMu * v);
    x = y;
  }
  AffineTraining run = training(kRanks,
                                {{"name", "sparta"},
                                 {"density", 1.0},
                                 {"sync_every", 2},
                                 {"outer_lr", kOuterLr},
                                 {"outer_momentum", kMu}},
                                8);
  expect_near(common_weights(train(run)), std::vector<double>(kRanks, x));
}

INSTANTIATE_TEST_SUITE_P(Worlds, OuterCodesRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::outer_codes_test
