// Methods whose outer steps come one block late, computed by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/algorithms/update_rules/centralised_rules.h"
#include "tests/oracles/powersgd_reference.h"

namespace trigram::test::late_blocks_test {
namespace {

using namespace centralised;

constexpr double kOuterLr = 0.6, kMu = 0.8;

class LateBlockRules : public CentralisedRules {};

/// The equations of CO2, with blocks of two steps. A penalty of 0 is measured.
std::vector<double> co2(std::size_t ranks, int steps, double penalty, double clip) {
  std::vector<double> x(ranks, 1);
  double y = 1, y_before = 1, m = 0, late = 0;
  for (int t = 1; t <= steps; ++t) {
    for (std::size_t r = 0; r < ranks; ++r) x[r] -= kLr * gradient(x[r], r);
    if (t % 2 != 0) continue;
    const double next = y - mean(x);
    const double gap = penalty > 0 ? penalty
                       : late != 0 ? 1 + std::abs(y - y_before) / std::abs(late)
                                   : 1;
    m = std::clamp(kMu * m + late / gap, -clip, clip);
    y_before = y;
    y -= kOuterLr * m;
    late = next;
    x.assign(ranks, y);
  }
  return x;
}

/// Without a bound, m comes to more than 1.
TEST_P(LateBlockRules, Co2PenalisesLateDifferencesAndClipsItsMomentum) {
  constexpr double kNoClip = 1e9, kClip = 0.6;
  for (const double penalty : {0.0, 1.0, 1.5})
    for (const double clip : {kNoClip, kClip})
      for (const int steps : {3, 8, 9}) {
        SCOPED_TRACE(testing::Message() << penalty << " " << clip << " " << steps);
        Json options = {{"name", "co2"},         {"sync_every", 2},        {"outer_lr", kOuterLr},
                        {"outer_momentum", kMu}, {"gap_penalty", nullptr}, {"clip", nullptr}};
        if (penalty > 0) options["gap_penalty"] = penalty;
        if (clip == kClip) options["clip"] = clip;
        check(options, steps, [&](std::size_t ranks) { return co2(ranks, steps, penalty, clip); });
      }
  EXPECT_GT(std::abs(co2(4, 8, 0, kNoClip)[0] - co2(4, 8, 1, kNoClip)[0]), 0.01);
  EXPECT_GT(std::abs(co2(4, 8, 0, kNoClip)[0] - co2(4, 8, 0, kClip)[0]), 0.01);
}

/// The model is a vector of 43 weights that differ, whose difference is a matrix of 7 x 7.
TEST_P(LateBlockRules, DiLoCoXStepsAlongLateLowRankDifferences) {
  constexpr std::size_t kRanks = 4, kNumel = 43;
  constexpr double kTilt = 0.13;
  using Vector = PowerSgdReference::Vector;
  for (const bool feedback : {true, false}) {
    PowerSgdReference low_rank({.rank = 1, .error_feedback = feedback}, 0);
    std::vector<Vector> x(kRanks, Vector(kNumel, 1));
    Vector y(kNumel, 1), v(kNumel, 0), late(kNumel, 0);
    for (int t = 0; t < 8; ++t) {
      for (std::size_t r = 0; r < kRanks; ++r)
        for (std::size_t i = 0; i < kNumel; ++i) {
          const double slant = (1 + kTilt * static_cast<double>(i)) * (i % 2 == 0 ? 1 : -1);
          x[r][i] -= kLr * (kSlope * x[r][i] + static_cast<double>(r + 1) * slant);
        }
      if (t % 2 == 0) continue;
      std::vector<Vector> differences(kRanks, y);
      for (std::size_t r = 0; r < kRanks; ++r)
        for (std::size_t i = 0; i < kNumel; ++i) differences[r][i] -= x[r][i];
      for (std::size_t i = 0; i < kNumel; ++i) {
        v[i] = kMu * v[i] + late[i];
        y[i] -= kOuterLr * (late[i] + kMu * v[i]);
      }
      late = low_rank.approximation(differences, t);
      std::ranges::fill(x, y);
    }
    AffineTraining run = training(kRanks,
                                  {{"name", "dilocox"},
                                   {"sync_every", 2},
                                   {"rank", 1},
                                   {"error_feedback", feedback},
                                   {"outer_lr", kOuterLr},
                                   {"outer_momentum", kMu}},
                                  8, kSlope);
    run.lr = kLr;
    run.numel = kNumel;
    run.tilt = kTilt;
    run.alternating = true;
    const auto exact = train(run);
    run.algorithm["codec"] = "fp16";
    const auto coded = train(run);
    double loss = 0;
    for (std::size_t r = 0; r < kRanks; ++r)
      for (std::size_t i = 0; i < kNumel; ++i) {
        EXPECT_NEAR(exact[r].weights[i], y[i], 2e-4) << r << " " << i;
        loss = std::max(loss, std::abs(double{coded[r].weights[i]} - double{exact[r].weights[i]}));
      }
    EXPECT_GT(loss, 1e-5) << "codes of 16 bits are not exact";
    EXPECT_LT(loss, 0.05);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, LateBlockRules, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::late_blocks_test
