// Gradients clipped by their global norm, which spans all buckets, compared with plain loops in
// double precision.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/affine_training.h"

namespace trigram::test::clip_norm_test {
namespace {

constexpr double kLr = 0.125, kSlope = 0.5, kTilt = 0.25, kMomentum = 0.5;
constexpr double kClip = 12;  // the first gradients are longer, later ones are not
constexpr std::size_t kNumel = 10;
constexpr int kRanks = 4;
using Vector = std::vector<double>;

Vector gradient(const Vector& x, int rank) {
  Vector g(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    g[i] = kSlope * x[i] + (rank + 1) * (1 + kTilt * static_cast<double>(i));
  return g;
}

void add(Vector& sum, double factor, const Vector& x) {
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] += factor * x[i];
}

Vector mean(const std::vector<Vector>& vectors) {
  Vector m(vectors[0].size(), 0);
  for (const Vector& v : vectors) add(m, 1.0 / static_cast<double>(vectors.size()), v);
  return m;
}

double norm(const Vector& x) {
  double squares = 0;
  for (const double v : x) squares += v * v;
  return std::sqrt(squares);
}

class ClipNorm : public AffineTest {
 protected:
  /// The path of the training, with the number of iterations in which a gradient was clipped.
  struct Reference {
    Vector clip(Vector g) {
      const double divisor = std::max(1.0, norm(g) / kClip);
      (divisor > 1 ? clipped : unclipped) += 1;
      for (double& v : g) v /= divisor;
      return g;
    }
    std::vector<Vector> x = std::vector<Vector>(kRanks, Vector(kNumel, 1));
    int clipped = 0, unclipped = 0;
  };

  void check(const Json& algorithm, long steps, const Reference& expected,
             const Json& optimizer = nullptr, int workers = kRanks) {
    SCOPED_TRACE(algorithm.dump());
    EXPECT_GT(expected.clipped, 0);
    EXPECT_GT(expected.unclipped, 0);
    const auto ends = train({.world = GetParam(),
                             .cluster = nodes_of_two(2),
                             .algorithm = algorithm,
                             .steps = steps,
                             .slope = kSlope,
                             .tilt = kTilt,
                             .lr = kLr,
                             .numel = kNumel,
                             .optimizer = optimizer,
                             .clip_norm = kClip});
    for (int r = 0; r < workers; ++r)
      for (std::size_t i = 0; i < kNumel; ++i)
        EXPECT_NEAR(double{ends.at(r).weights.at(i)}, expected.x[r][i], 2e-5)
            << "rank " << r << ", weight " << i;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ClipNorm, every_named_world(), named_world_test_name);

/// Exchanged gradients are clipped after the exchange, by the norm of their mean.
TEST_P(ClipNorm, OfMeanGradients) {
  constexpr long kSteps = 12;
  Reference expected;
  for (long t = 0; t < kSteps; ++t) {
    std::vector<Vector> g;
    for (int r = 0; r < kRanks; ++r) g.push_back(gradient(expected.x[0], r));
    add(expected.x[0], -kLr, expected.clip(mean(g)));
  }
  expected.x.assign(kRanks, expected.x[0]);
  const Json allreduce = {{"name", "gradient_allreduce"}};
  const Json servers = {{"name", "parameter_server"}, {"servers", 2}, {"partition", "16B"}};
  for (const Json& algorithm : {allreduce, servers})
    for (const Json& options :
         {Json::object(), Json{{"overlap", false}}, Json{{"hierarchical", true}}}) {
      Json spec = algorithm;
      spec.update(options);
      check(spec, kSteps, expected);
      if (spec == servers) {
        spec["priority"] = "need";  // the next forward pass waits for all buckets
        check(spec, kSteps, expected);
      }
    }
}

/// A mean that is used one step late is clipped by its own norm, not by that of the step's
/// gradients.
TEST_P(ClipNorm, OfDelayedGradients) {
  constexpr long kSteps = 16;
  Reference expected;
  Vector& x = expected.x[0];
  Vector late;
  for (long t = 0; t < kSteps; ++t) {
    std::vector<Vector> g;
    for (int r = 0; r < kRanks; ++r) g.push_back(gradient(x, r));
    if (t > 0) add(x, -kLr, expected.clip(late));
    late = mean(g);
  }
  expected.x.assign(kRanks, x);
  for (const bool overlap : {true, false})
    check({{"name", "delayed_allreduce"}, {"overlap", overlap}}, kSteps, expected);
}

/// Workers that step alone clip their own gradients, also if each bucket is averaged as soon as it
/// has been updated.
TEST_P(ClipNorm, OfLocalGradients) {
  constexpr long kSteps = 12;
  Reference expected;
  for (long t = 0; t < kSteps; ++t) {
    for (int r = 0; r < kRanks; ++r)
      add(expected.x[r], -kLr, expected.clip(gradient(expected.x[r], r)));
    if (t % 2 == 1) expected.x.assign(kRanks, mean(expected.x));
  }
  for (const Json& bucket : {Json(), Json("0B")})
    check({{"name", "local_sgd"}, {"sync_every", 2}, {"bucket", bucket}}, kSteps, expected);
}

/// After the warm-up, gradients are clipped before they enter the moment that is exchanged.
TEST_P(ClipNorm, OfGradientsInMoments) {
  constexpr long kSteps = 16, kWarmUp = 3;
  Reference expected;
  Vector m(kNumel, 0), x(kNumel, 1);
  for (long t = 0; t < kSteps; ++t) {
    std::vector<Vector> g;
    for (int r = 0; r < kRanks; ++r) g.push_back(gradient(x, r));
    if (t >= kWarmUp)
      for (Vector& own : g) own = expected.clip(own);
    for (double& v : m) v *= kMomentum;
    add(m, 1, t < kWarmUp ? expected.clip(mean(g)) : mean(g));
    add(x, -kLr, m);
  }
  expected.x.assign(kRanks, x);
  const Json exact = {{"name", "topk"}, {"density", 1}};  // sends all elements as they are
  for (const bool overlap : {true, false})
    check({{"name", "onebit_adam"},
           {"codec", exact},
           {"warmup_steps", kWarmUp},
           {"overlap", overlap}},
          kSteps, expected, {{"name", "sgd"}, {"lr", kLr}, {"momentum", kMomentum}});
}

}  // namespace
}  // namespace trigram::test::clip_norm_test
