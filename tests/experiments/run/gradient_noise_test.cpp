#include "experiments/run/gradient_noise.h"

#include <gtest/gtest.h>

#include "core/device/host_device.h"
#include "core/workloads/quadratic.h"
#include "experiments/run/run.h"

namespace trigram::gradient_noise_test {
namespace {

constexpr std::size_t kDimension = 16;
constexpr double kNoise = 0.5;
constexpr std::uint64_t kSeed = 3;

/// The summary of a run that stays at its first weights, 0.
Json summary_of(const Json& changes, double noise = kNoise) {
  Json config = {
      {"runtime", "threads"},
      {"cluster", {{"nodes", 4}}},
      {"algorithm", {{"name", "gradient_allreduce"}, {"bucket", "0B"}}},
      {"workload",
       {{"name", "quadratic"}, {"dimension", kDimension}, {"noise", noise}, {"tensors", 3}}},
      {"optimizer", {{"name", "sgd"}, {"lr", 0}}},
      {"seed", kSeed},
      {"gradient_noise", true},
      {"steps", 400}};
  config.update(changes);
  const Experiment e = experiment_fields("").parse(config, "");
  const auto factory = make_workload_factory(e.workload, "/workload");
  return make_run(e, *factory, {[](const StepRecord&) {}, [](const Json&) {}});
}

/// |A^T (A x - b)|^2 at x = 0 in double precision, without noise.
double gradient_square() {
  HostDevice device;
  Quadratic problem(device, {.dimension = kDimension}, {0, 4, kSeed});
  const Tensor w = device.empty(kDimension), g = device.empty(kDimension);
  problem.initialise(w.floats());
  problem.forward(device, w);
  problem.backward(device, w, g, [] {});
  double square = 0;
  for (const float x : g.floats()) square += double{x} * double{x};
  return square;
}

TEST(GradientNoise, FollowsFromTwoBatchSizes) {
  // |g_b|^2 = |G|^2 + S / b and |g_B|^2 = |G|^2 + S / B, for |G|^2 = 3, S = 10, b = 2 and B = 8
  const GradientNoise noise = estimate_noise({3 + 10.0 / 2, 3 + 10.0 / 8}, 2, 4);
  EXPECT_DOUBLE_EQ(noise.gradient_square, 3);
  EXPECT_DOUBLE_EQ(noise.noise, 10);
}

/// The noise of each element of a gradient has variance sigma^2, so S = d sigma^2. A batch of the
/// quadratic counts as one sample, so k micro-batches are a batch of k samples with the same S.
TEST(GradientNoise, OfAQuadraticIsItsOption) {
  const double S = kDimension * kNoise * kNoise;
  for (const Json& change :
       {Json::object(), Json{{"micro_batches", 2}},
        Json{{"algorithm", {{"name", "parameter_server"}, {"servers", 2}}}},
        Json{{"algorithm", {{"name", "gradient_allreduce"}, {"hierarchical", true}}}}}) {
    const Json summary = summary_of(change);
    EXPECT_NEAR(summary["gradient_noise"].get<double>() / S, 1, 0.05) << change;
    EXPECT_NEAR(summary["gradient_square"].get<double>() / gradient_square(), 1, 0.05) << change;
    EXPECT_NEAR(summary["gradient_noise_scale"].get<double>(),
                summary["gradient_noise"].get<double>() / summary["gradient_square"].get<double>(),
                1e-12);
  }
}

TEST(GradientNoise, IsZeroIfAllGradientsAreEqual) {
  const Json summary = summary_of({{"steps", 3}}, 0);
  EXPECT_NEAR(summary["gradient_noise"].get<double>() / gradient_square(), 0, 1e-6);
  EXPECT_NEAR(summary["gradient_square"].get<double>() / gradient_square(), 1, 1e-6);
}

/// Clipping comes after the measurement.
TEST(GradientNoise, IsThatOfGradientsThatAreNotClipped) {
  const Json plain = summary_of({{"steps", 20}}),
             clipped = summary_of({{"steps", 20}, {"clip_norm", 0.01}});
  for (const char* key : {"gradient_noise", "gradient_square"})
    EXPECT_NEAR(plain[key].get<double>() / clipped[key].get<double>(), 1, 1e-6) << key;
}

}  // namespace
}  // namespace trigram::gradient_noise_test
