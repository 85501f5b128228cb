// Methods that encode gradients as signs, as three values, or as the largest of accumulated
// gradients, compared with plain loops over their equations.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "algorithms/execution/averages.h"
#include "tests/algorithms/update_rules/coded_gradients.h"
#include "tests/oracles/codec_references.h"

namespace trigram::test::coded_sgd_test {
namespace {

using namespace coded;

class CodedSgd : public CodedGradients {
 protected:
  static double norm(const Vector& x) {
    double squares = 0;
    for (const float v : x) squares += double{v} * double{v};
    return std::sqrt(squares);
  }
};

/// Each element has one bit, which decodes to the mean of the elements of its sign. There is error
/// feedback at both ends.
TEST_P(CodedSgd, OneBitSgdFeedsBackTheLossOfSignsAtBothEnds) {
  const auto by = [](const char* scale, bool feedback) {
    return [=](const WorkerSetup& workers) {
      return scattered(workers, {"sign", {{"scale", scale}}}, feedback);
    };
  };
  check({{"name", "onebit_sgd"}}, by("means", true),
        {exact, by("means", false), by("l2", true), by("l1_mean", true)});
  check({{"name", "onebit_sgd"}, {"error_feedback", false}}, by("means", false), {});
}

TEST_P(CodedSgd, EfSignSgdAveragesTheScaledSignsOfAllWorkers) {
  const auto by = [](const char* scale, bool feedback) {
    return [=](const WorkerSetup& workers) {
      return gathered(workers, {"sign", {{"scale", scale}}}, feedback);
    };
  };
  check({{"name", "ef_signsgd"}}, by("l1_mean", true),
        {exact, by("l1_mean", false), by("l2", true), by("means", true)});
}

/// Every element of every worker's gradient has a vote, and +1 wins a tie. Weights start at the
/// rank, so votes differ.
TEST_P(CodedSgd, SignSgdMovesInTheDirectionOfMostGradients) {
  const double slope = 2;
  for (const std::size_t P : {4, 5, 8}) {
    SCOPED_TRACE(P);
    Vectors x;
    for (std::size_t r = 0; r < P; ++r) x.emplace_back(kNumel, static_cast<float>(r));
    int ties = 0, divided = 0;
    for (long t = 0; t < kSteps; ++t)
      for (std::size_t i = 0; i < kNumel; ++i) {
        int votes = 0;
        for (std::size_t r = 0; r < P; ++r) {
          const float offset = static_cast<float>(r + 1) * (1 + kTilt * static_cast<float>(i));
          const float g = static_cast<float>(slope) * x[r][i] + (i % 2 == 0 ? offset : -offset);
          votes += g < 0 ? -1 : 1;
        }
        ties += votes == 0;
        divided += std::abs(votes) < static_cast<int>(P);
        for (Vector& own : x) own[i] -= votes < 0 ? -kLr : kLr;
      }
    EXPECT_EQ(ties > 0, P % 2 == 0);
    EXPECT_GT(divided, 5);
    const auto ends = train({.world = GetParam(),
                             .cluster = flat_cluster(static_cast<int>(P)),
                             .algorithm = "signsgd_majority",
                             .steps = kSteps,
                             .slope = slope,
                             .tilt = double{kTilt},
                             .alternating = true,
                             .lr = double{kLr},
                             .numel = kNumel,
                             .start_at_rank = true});
    expect_vectors_near(weights_of(ends), x, 1e-5f);
  }
}

/// How large the gradients of the minority are does not matter.
TEST_P(CodedSgd, SignSgdCountsVotesNotGradients) {
  run_in_world(GetParam(), flat_cluster(3), [](const Context& ctx) {
    const Tensor g = ctx.device->empty(6);
    const float few = ctx.world_rank == 2 ? 1.f : 0.f, most = 1 - few;
    for (std::size_t i = 0; i < 6; ++i)
      g.floats()[i] = (i % 2 == 0 ? 1.f : -1.f) * (100 * few - most);
    coded_average({.codec = {"sign", {{"scale", "one"}}}})(ctx, g, {});
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(g.floats()[i], i % 2 == 0 ? -1.f : 1.f);
  });
}

/// Gradients are clipped at +-c sigma, rounded to three values with the codec's own random numbers,
/// and averaged.
TEST_P(CodedSgd, TernGradAveragesThreeValuesOfClippedGradients) {
  const CodecSpec ternary{"qsgd", {{"levels", 1}, {"norm", "max"}, {"bucket", 1 << 24}}};
  const auto clipped_at = [&](double c) {
    return [&ternary, c](const WorkerSetup& workers) -> Average {
      return
          [average = gathered(workers, ternary, false), c](Vectors inputs, int bucket, long step) {
            for (Vector& x : inputs) {
              const auto limit = static_cast<float>(c * norm(x) / std::sqrt(double(x.size())));
              for (float& v : x) v = std::clamp(v, -limit, limit);
            }
            return average(inputs, bucket, step);
          };
    };
  };
  check({{"name", "terngrad"}, {"clip", 1.25}}, clipped_at(1.25),
        {exact, clipped_at(1.5), clipped_at(1e6)});
  check({{"name", "terngrad"}, {"clip", nullptr}}, clipped_at(1e6), {});
}

/// Every worker's momentum and its unsent elements, in plain loops.
struct DgcReference {
  double density, momentum = 0.5;
  bool nesterov = false, masks = true, quarters_at_first = false;
  double clip = 1e9;

  Average operator()(const WorkerSetup&) const {
    using Key = std::pair<int, std::size_t>;  // bucket, exchanging rank
    const auto us = std::make_shared<std::map<Key, Vector>>();
    const auto vs = std::make_shared<std::map<Key, Vector>>();
    return [o = *this, us, vs](const Vectors& inputs, int bucket, long step) {
      Vector sum(inputs.at(0).size(), 0);
      for (std::size_t r = 0; r < inputs.size(); ++r) {
        Vector &u = (*us)[{bucket, r}], &v = (*vs)[{bucket, r}];
        u.resize(sum.size(), 0);
        v.resize(sum.size(), 0);
        o.accumulate(inputs[r], 1 / std::sqrt(static_cast<double>(inputs.size())), u, v);
        for (const std::uint32_t i : topk_indices(v, o.kept(sum.size(), step))) {
          sum[i] += v[i] / static_cast<float>(inputs.size());
          v[i] = 0;
          if (o.masks) u[i] = 0;
        }
      }
      return sum;
    };
  }
  void accumulate(const Vector& gradient, double share, Vector& u, Vector& v) const {
    double squares = 0;
    for (const float g : gradient) squares += double{g} * double{g};
    const auto scale = static_cast<float>(std::min(1.0, clip * share / std::sqrt(squares)));
    const auto mu = static_cast<float>(momentum);
    for (std::size_t i = 0; i < u.size(); ++i) {
      const float g = scale * gradient[i];
      u[i] = nesterov ? mu * (u[i] + g) : mu * u[i] + g;
      v[i] += nesterov ? u[i] + g : u[i];
    }
  }
  std::size_t kept(std::size_t n, long step) const {
    const double now = !quarters_at_first ? density
                       : step == 0        ? 0.25
                       : step == 1        ? 0.0625
                                          : density;
    return static_cast<std::size_t>(std::ceil(now * static_cast<double>(n)));
  }
};

TEST_P(CodedSgd, DgcSendsTheLargestAccumulatedElements) {
  Json spec = {{"name", "dgc"}, {"density", 0.1}, {"momentum", 0.5}};
  const DgcReference plain{0.1};
  DgcReference no_masks = plain, no_momentum = plain, nesterov = plain, clipped = plain;
  no_masks.masks = false;
  no_momentum.momentum = 0;
  nesterov.nesterov = true;
  clipped.clip = 6;
  const auto topk = [](const WorkerSetup& workers) {
    return gathered(workers, {"topk", {{"density", 0.1}}}, true);
  };
  check(spec, plain, {exact, no_masks, no_momentum, nesterov, clipped});
  check({{"name", "dgc"}, {"density", 0.1}, {"momentum", 0}}, topk, {plain});
  spec["nesterov"] = true;
  check(spec, nesterov, {plain});
  spec.update({{"nesterov", false}, {"clip", 6}});
  check(spec, clipped, {plain});
}

/// The density is a quarter in the first step and a 16th in the second; then it is the given one.
TEST_P(CodedSgd, DgcWarmsItsDensityUp) {
  const DgcReference all_along{0.03};
  DgcReference warm = all_along;
  warm.quarters_at_first = true;
  check({{"name", "dgc"}, {"density", 0.03}, {"momentum", 0.5}, {"warmup_every", 1}}, warm,
        {all_along});
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodedSgd, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::coded_sgd_test
