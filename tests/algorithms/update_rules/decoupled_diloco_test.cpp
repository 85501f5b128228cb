// Decoupled DiLoCo, computed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tests/support/affine_training.h"

namespace trigram::test::decoupled_diloco_test {
namespace {

using Vector = std::vector<double>;

constexpr double kLr = 0.125, kSlope = 0.5, kTilt = 0.13, kOuterLr = 0.6, kMu = 0.8;
constexpr std::size_t kNumel = 10, kHalf = kNumel / 2;

double norm(const Vector& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

void add(double a, const Vector& x, Vector& sum) {
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] += a * x[i];
}

/// One of the two layers: the weights from `begin` on, which are exchanged after steps `first`,
/// `first` + 4, ...
class Layer {
 public:
  Layer(std::size_t begin, long first, bool radial)
      : begin_(begin), first_(first), radial_(radial) {}
  /// The weights after `steps` steps of workers with the given offsets.
  std::vector<Vector> train(std::size_t ranks, long steps) {
    std::vector<Vector> x(ranks, Vector(kHalf, 1));
    Vector y(kHalf, 1), v(kHalf, 0);
    for (long t = 1; t <= steps; ++t) {
      for (std::size_t r = 0; r < ranks; ++r) step(x[r], r);
      if (t % 4 != first_ % 4) continue;
      const Vector d = merged(x, y);
      for (std::size_t i = 0; i < kHalf; ++i) {
        v[i] = kMu * v[i] + d[i];
        y[i] -= kOuterLr * (d[i] + kMu * v[i]);
      }
      x.assign(ranks, y);
    }
    return x;
  }

 private:
  void step(Vector& x, std::size_t rank) const {
    for (std::size_t i = 0; i < kHalf; ++i) {
      const auto index = static_cast<double>(begin_ + i);
      const double slant = (1 + kTilt * index) * ((begin_ + i) % 2 == 0 ? 1 : -1);
      x[i] -= kLr * (kSlope * x[i] + static_cast<double>(rank + 1) * slant);
    }
  }
  Vector merged(const std::vector<Vector>& x, const Vector& y) const {
    const auto count = static_cast<double>(x.size());
    Vector sum(kHalf, 0);
    double lengths = 0;
    for (const Vector& own : x) {
      Vector d = y;
      add(-1, own, d);
      add(radial_ ? 1 / norm(d) : 1 / count, d, sum);
      lengths += norm(d) / count;
    }
    Vector result(kHalf, 0);
    add(radial_ ? lengths / norm(sum) : 1, sum, result);
    return result;
  }

  std::size_t begin_;
  long first_;
  bool radial_;
};

class DecoupledRule : public AffineTest {
 protected:
  static AffineTraining decoupled(int ranks, const Json& changes, long steps) {
    Json spec = {{"name", "decoupled_diloco"},
                 {"sync_every", 4},
                 {"quorum", ranks},
                 {"outer_lr", kOuterLr},
                 {"outer_momentum", kMu}};
    spec.update(changes);
    AffineTraining run = training(ranks, spec, steps, kSlope);
    run.lr = kLr;
    run.tilt = kTilt;
    run.alternating = true;
    return run;
  }
};

/// The model has two layers. The first bucket is the layer next to the output, the second fragment.
TEST_P(DecoupledRule, MergesDirectionsAndLengthsApart) {
  for (const bool radial : {true, false})
    for (const int steps : {3, 8, 9}) {
      SCOPED_TRACE(testing::Message() << radial << " " << steps);
      const auto ends = train(decoupled(4, {{"merge", radial ? "radial" : "mean"}}, steps));
      const auto late = Layer(0, 4, radial).train(4, steps),
                 early = Layer(kHalf, 2, radial).train(4, steps);
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t i = 0; i < kHalf; ++i) {
          EXPECT_NEAR(ends[r].weights[i], late[r][i], 2e-5) << r << " " << i;
          EXPECT_NEAR(ends[r].weights[kHalf + i], early[r][i], 2e-5) << r << " " << i;
        }
    }
}

/// A worker that takes five times as long per step comes too late for every round of the others,
/// which do not wait for it: they learn what they learn without it.
TEST_P(DecoupledRule, AQuorumDoesNotWaitForLateWorkers) {
  if (!is_simulated(GetParam())) GTEST_SKIP() << "who is late must be certain";
  constexpr long kSteps = 8;
  AffineTraining run = decoupled(3, {{"quorum", 2}}, kSteps);
  run.slowdown = [](int rank, long) { return rank == 2 ? 5 : 1; };
  const auto ends = train(run);
  const auto late = Layer(0, 4, true).train(2, kSteps);
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t i = 0; i < kHalf; ++i) EXPECT_NEAR(ends[r].weights[i], late[r][i], 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Worlds, DecoupledRule, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::decoupled_diloco_test
