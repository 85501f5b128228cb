// Methods that average encoded gradients or moments, compared with plain loops over their
// equations. Weights and gradients differ from element to element. The loss of codes and the error
// feedback must follow the equations of each method exactly.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "tests/algorithms/update_rules/coded_gradients.h"
#include "tests/oracles/powersgd_reference.h"

namespace trigram::test::coded_gradients_test {
namespace {

using namespace coded;

constexpr float kMomentum = 0.5f, kAdamLr = 0.5f;

Average low_rank(const PowerSgdReference::Options& options) {
  const auto buckets = std::make_shared<std::vector<PowerSgdReference>>();
  for (int bucket = 0; bucket < static_cast<int>(kBuckets); ++bucket)
    buckets->emplace_back(options, bucket);
  return [buckets](const Vectors& vectors, int bucket, long step) {
    std::vector<std::vector<double>> inputs;
    for (const Vector& x : vectors) inputs.emplace_back(x.begin(), x.end());
    const auto result = buckets->at(static_cast<std::size_t>(bucket)).approximation(inputs, step);
    return Vector(result.begin(), result.end());
  };
}

/// Training by m = avg(mu m + g_i(x)), exact in the first step;  x = x - lr m. If `bagua`, the
/// warm-up has a second step, as in BAGUA's QAdam: it moves along the moment of the first step and
/// ignores its own gradient.
template <bool bagua>
Vector train_on_moments(const WorkerSetup& workers, const Average& average) {
  Vector x(kNumel, 1), m(kNumel, 0);
  for (long t = 0; t < kSteps + (bagua ? 2 : 1); ++t) {
    Vectors all = gradients(x, workers.ranks);
    for (Vector& own : all)
      for (std::size_t i = 0; i < kNumel; ++i) own[i] += kMomentum * m[i];
    if (!bagua || t != 1) m = averaged(workers, all, t == 0 ? Average(plain_mean) : average, t);
    for (std::size_t i = 0; i < kNumel; ++i) x[i] -= kLr * m[i];
  }
  return x;
}

/// Adam for two steps, and one step along its moments that ignores the gradient. Then
///   m = avg(b1 m + (1 - b1) g_i(x)), and v is constant.
Vector train_with_adam(const WorkerSetup& workers, const Average& average) {
  const float b1 = 0.9f, b2 = 0.999f, eps = 1e-8f;
  Vector x(kNumel, 1), m(kNumel, 0), v(kNumel, 0);
  for (long t = 0; t < kSteps + 3; ++t) {
    Vectors all = gradients(x, workers.ranks);
    const Vector g = averaged(workers, all, plain_mean, t);
    for (Vector& own : all)
      for (std::size_t i = 0; i < kNumel; ++i) own[i] = b1 * m[i] + (1 - b1) * own[i];
    if (t != 2) m = averaged(workers, all, t < 2 ? Average(plain_mean) : average, t);
    const auto n = static_cast<float>(t + 1);
    for (std::size_t i = 0; i < kNumel; ++i) {
      if (t < 2) v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
      x[i] -= kAdamLr * (m[i] / (1 - std::pow(b1, n))) /
              (std::sqrt(v[i] / (1 - std::pow(b2, n))) + eps);
    }
  }
  return x;
}

TEST_P(CodedGradients, ByteGradAndQsgdAverageCodesAndCodeTheMean) {
  struct Case {
    const char* name;
    CodecSpec codec;
  };
  for (const auto& [name, codec] :
       {Case{"bytegrad", {"minmax_uint8"}}, Case{"qsgd", {"qsgd", {{"levels", 7}}}}})
    for (const bool feedback : {false, true}) {
      const auto coded = [c = codec](bool with) {
        return [c, with](const WorkerSetup& workers) { return scattered(workers, c, with); };
      };
      check(with_codec(name, codec, feedback), coded(feedback), {exact, coded(!feedback)});
    }
}

TEST_P(CodedGradients, TopKAveragesTheLargestElementsAndKeepsTheOthers) {
  const CodecSpec codec{"topk", {{"density", 0.2}}};
  for (const bool feedback : {false, true}) {
    const auto coded = [&](bool with) {
      return [&codec, with](const WorkerSetup& workers) { return gathered(workers, codec, with); };
    };
    check(with_codec("topk", codec, feedback), coded(feedback), {exact, coded(!feedback)});
  }
}

TEST_P(CodedGradients, PowerSgdAveragesFactors) {
  for (const bool feedback : {true, false})
    for (const bool warm : {true, false}) {
      const auto factored = [](bool with, bool kept) {
        return [=](const WorkerSetup&) {
          return low_rank({.rank = 1, .error_feedback = with, .warm_start = kept, .seed = kSeed});
        };
      };
      check({{"name", "powersgd"}, {"rank", 1}, {"error_feedback", feedback}, {"warm_start", warm}},
            factored(feedback, warm),
            {exact, factored(!feedback, warm), factored(feedback, !warm)});
    }
}

TEST_P(CodedGradients, MomentsAreAveragedInCode) {
  struct Case {
    const char* name;
    CodecSpec codec;
    long warmup_steps;
    TrainingLoop loop;
  };
  for (const auto& [name, codec, warmup_steps, loop] :
       {Case{"onebit_adam", {"sign"}, 1, train_on_moments<false>},
        Case{"qadam", {"minmax_uint8"}, 2, train_on_moments<true>}})
    for (const bool feedback : {false, true}) {
      const auto coded = [c = codec](bool with) {
        return [c, with](const WorkerSetup& workers) { return scattered(workers, c, with); };
      };
      Json spec = with_codec(name, codec, feedback);
      spec["warmup_steps"] = warmup_steps;
      check(spec, coded(feedback), {exact, coded(!feedback)}, loop, kSteps + warmup_steps,
            {{"name", "sgd"}, {"lr", kLr}, {"momentum", kMomentum}});
    }
}

TEST_P(CodedGradients, QAdamKeepsItsVariance) {
  const CodecSpec codec{"minmax_uint8"};
  Json spec = with_codec("qadam", codec, false);
  spec["warmup_steps"] = 3;
  check(spec, [&](const WorkerSetup& workers) { return scattered(workers, codec, false); }, {exact},
        train_with_adam, kSteps + 3, {{"name", "adam"}, {"lr", kAdamLr}});
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodedGradients, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::coded_gradients_test
