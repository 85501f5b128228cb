// Streaming DiLoCo, computed by hand. Every fragment has its own equations, since a layer's
// gradient depends on this layer alone.

#include <gtest/gtest.h>

#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

namespace trigram::test::streaming_diloco_test {
namespace {

constexpr double kLr = 0.125, kSlope = 0.5, kOuterLr = 0.6, kMu = 0.8;

struct Schedule {
  int every, overlap;
  double mixing;
};

/// The workers' weights of the fragment that is sent after steps `first`, `first` + H, ... (counted
/// from 1), after `steps` steps.
std::vector<double> fragment(const Schedule& s, int first, std::size_t ranks, int steps) {
  std::vector<double> x(ranks, 1), arriving(static_cast<std::size_t>(steps + s.overlap) + 1, NAN);
  double outer = 1, v = 0;
  for (int t = 1; t <= steps; ++t) {
    for (std::size_t r = 0; r < ranks; ++r)
      x[r] -= kLr * (kSlope * x[r] + static_cast<double>(r) + 1);
    if (t >= first && (t - first) % s.every == 0)
      arriving[static_cast<std::size_t>(t + s.overlap)] = outer - mean(x);
    const double d = arriving[static_cast<std::size_t>(t)];
    if (std::isnan(d)) continue;
    v = kMu * v + d;
    outer -= kOuterLr * (d + kMu * v);
    for (double& own : x) own = s.mixing * own + (1 - s.mixing) * outer;
  }
  return x;
}

class StreamingRule : public AffineTest {};

/// The model has two layers. The first bucket is the layer next to the output, the second fragment.
TEST_P(StreamingRule, EveryFragmentHasAnOuterOptimizerOfItsOwn) {
  for (const Schedule& s : {Schedule{2, 0, 0}, {2, 1, 0}, {4, 1, 0.5}, {4, 3, 0.25}})
    for (const bool overlap : {false, true})
      for (const int steps : {3, 8, 9}) {
        SCOPED_TRACE(testing::Message() << s.every << " " << s.overlap << " " << steps);
        AffineTraining run = training(4,
                                      {{"name", "streaming_diloco"},
                                       {"sync_every", s.every},
                                       {"overlap_steps", s.overlap},
                                       {"mixing", s.mixing},
                                       {"outer_lr", kOuterLr},
                                       {"outer_momentum", kMu},
                                       {"overlap", overlap}},
                                      steps, kSlope);
        run.lr = kLr;
        const auto ends = train(run);
        const auto early = fragment(s, s.every / 2, 4, steps),
                   late = fragment(s, s.every, 4, steps);
        for (std::size_t r = 0; r < 4; ++r) {
          EXPECT_NEAR(ends[r].weights.front(), late[r], 1e-5) << r;
          EXPECT_NEAR(ends[r].weights.back(), early[r], 1e-5) << r;
        }
      }
}

/// With one fragment, and nothing hidden or mixed, the bits are those of DiLoCo up to the rounding
/// of the mean difference.
TEST_P(StreamingRule, OneFragmentAtOnceIsDiLoCo) {
  Json spec = {{"name", "streaming_diloco"}, {"sync_every", 2}, {"fragments", 1},
               {"overlap_steps", 0},         {"outer_lr", 0.7}, {"outer_momentum", 0.9}};
  const auto streaming = train(training(4, spec, 8));
  const auto diloco = train(training(4, {{"name", "diloco"}, {"sync_every", 2}}, 8));
  for (std::size_t r = 0; r < 4; ++r)
    EXPECT_NEAR(streaming[r].weights[0], diloco[r].weights[0], 1e-5);
}

/// The mean of values that bf16 rounds away from each other stays in f32.
TEST_P(StreamingRule, CodesAreAddedUpInFullPrecision) {
  const auto trained = [](const Json& codec) {
    return train(training(4,
                          {{"name", "streaming_diloco"},
                           {"sync_every", 2},
                           {"outer_lr", 1},
                           {"outer_momentum", 0},
                           {"overlap_steps", 0},
                           {"codec", codec}},
                          2));
  };
  const auto coded = trained("bf16"), exact = trained("none");
  const float loss = std::abs(coded[0].weights[0] - exact[0].weights[0]);
  EXPECT_GT(loss, 0);
  EXPECT_LT(loss, 0x1p-8) << "half a unit in the last place of differences below 2";
}

INSTANTIATE_TEST_SUITE_P(Worlds, StreamingRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::streaming_diloco_test
