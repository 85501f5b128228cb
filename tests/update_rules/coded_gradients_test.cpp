// Methods that average coded gradients or moments, on weights and gradients that differ from
// element to element, against their equations in plain loops: what a code loses, and what error
// feedback brings back, must be as each method has it.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "tests/oracles/coded_average_reference.h"
#include "tests/oracles/powersgd_reference.h"
#include "tests/support/affine_training.h"
#include "tests/support/weight_vectors.h"
#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

constexpr float kLr = 0.125f, kSlope = 0.5f, kTilt = 0.13f, kMomentum = 0.5f, kAdamLr = 0.5f;
constexpr std::size_t kNumel = 86, kBuckets = 2;
constexpr long kSteps = 3;
constexpr std::uint64_t kSeed = 0;  // of these runs

/// What becomes of one bucket of those that exchange.
using Average = std::function<Vector(const Vectors& of, int bucket, long step)>;

/// Who exchanges: all ranks, or the first of every two.
struct Who {
  int ranks;
  bool hierarchical;

  std::vector<int> exchanging() const {
    std::vector<int> all;
    for (int rank = 0; rank < ranks; rank += hierarchical ? 2 : 1) all.push_back(rank);
    return all;
  }
  /// The vectors of those, of all ranks': in a hierarchy the means of nodes of two.
  Vectors theirs(const Vectors& of) const {
    if (!hierarchical) return of;
    Vectors means;
    for (std::size_t r = 0; r < of.size(); r += 2) {
      means.push_back(of[r]);
      for (std::size_t i = 0; i < of[r].size(); ++i)
        means.back()[i] = (of[r][i] + of[r + 1][i]) / 2;
    }
    return means;
  }
};

Vector mean(const Vectors& of, int, long) {
  Vector sum(of.at(0).size(), 0);
  for (const Vector& x : of)
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i] / static_cast<float>(of.size());
  return sum;
}

Average scattered(const Who& who, const CodecSpec& codec, bool feedback) {
  const auto reference =
      std::make_shared<CodedAverageReference>(codec, feedback, kSeed, who.exchanging());
  return [reference](const Vectors& of, int bucket, long step) {
    return reference->scattered(of, bucket, step);
  };
}

Average gathered(const Who& who, const CodecSpec& codec, bool feedback) {
  const auto reference =
      std::make_shared<CodedAverageReference>(codec, feedback, kSeed, who.exchanging());
  return [reference](const Vectors& of, int bucket, long step) {
    return reference->gathered(of, bucket, step);
  };
}

Average low_rank(const PowerSgdReference::Options& options) {
  const auto buckets = std::make_shared<std::vector<PowerSgdReference>>();
  for (int bucket = 0; bucket < static_cast<int>(kBuckets); ++bucket)
    buckets->emplace_back(options, bucket);
  return [buckets](const Vectors& of, int bucket, long step) {
    std::vector<std::vector<double>> inputs;
    for (const Vector& x : of) inputs.emplace_back(x.begin(), x.end());
    const auto got = buckets->at(static_cast<std::size_t>(bucket)).approximation(inputs, step);
    return Vector(got.begin(), got.end());
  };
}

/// Every bucket of the ranks' vectors, averaged.
Vector averaged(const Who& who, const Vectors& of, const Average& average, long step) {
  const Vectors theirs = who.theirs(of);
  Vector result;
  for (std::size_t b = 0; b < kBuckets; ++b) {
    Vectors parts;
    for (const Vector& x : theirs)
      parts.emplace_back(x.data() + kNumel * b / kBuckets, x.data() + kNumel * (b + 1) / kBuckets);
    const Vector part = average(parts, static_cast<int>(b), step);
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

/// g_r(x)[i] = slope x[i] +- (r + 1) (1 + tilt i): every part has both signs.
Vectors gradients(const Vector& x, int ranks) {
  Vectors all;
  for (int r = 0; r < ranks; ++r) {
    all.emplace_back();
    for (std::size_t i = 0; i < kNumel; ++i) {
      const float offset = static_cast<float>(r + 1) * (1 + kTilt * static_cast<float>(i));
      all.back().push_back(kSlope * x[i] + (i % 2 == 0 ? offset : -offset));
    }
  }
  return all;
}

/// x = x - lr avg(g_i(x))
Vector follow_gradients(const Who& who, const Average& average) {
  Vector x(kNumel, 1);
  for (long t = 0; t < kSteps; ++t) {
    const Vector g = averaged(who, gradients(x, who.ranks), average, t);
    for (std::size_t i = 0; i < kNumel; ++i) x[i] -= kLr * g[i];
  }
  return x;
}

/// m = avg(mu m + g_i(x)), exactly in the first step;  x = x - lr m
Vector follow_moments(const Who& who, const Average& average) {
  Vector x(kNumel, 1), m(kNumel, 0);
  for (long t = 0; t < kSteps + 1; ++t) {
    Vectors all = gradients(x, who.ranks);
    for (Vector& own : all)
      for (std::size_t i = 0; i < kNumel; ++i) own[i] += kMomentum * m[i];
    m = averaged(who, all, t == 0 ? Average(mean) : average, t);
    for (std::size_t i = 0; i < kNumel; ++i) x[i] -= kLr * m[i];
  }
  return x;
}

/// Adam for two steps; then m = avg(b1 m + (1 - b1) g_i(x)), and v stays.
Vector follow_adam(const Who& who, const Average& average) {
  const float b1 = 0.9f, b2 = 0.999f, eps = 1e-8f;
  Vector x(kNumel, 1), m(kNumel, 0), v(kNumel, 0);
  for (long t = 0; t < kSteps + 2; ++t) {
    Vectors all = gradients(x, who.ranks);
    const Vector g = averaged(who, all, mean, t);
    for (Vector& own : all)
      for (std::size_t i = 0; i < kNumel; ++i) own[i] = b1 * m[i] + (1 - b1) * own[i];
    m = averaged(who, all, t < 2 ? Average(mean) : average, t);
    const auto n = static_cast<float>(t + 1);
    for (std::size_t i = 0; i < kNumel; ++i) {
      if (t < 2) v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
      x[i] -= kAdamLr * (m[i] / (1 - std::pow(b1, n))) /
              (std::sqrt(v[i] / (1 - std::pow(b2, n))) + eps);
    }
  }
  return x;
}

Json with_codec(const char* name, const CodecSpec& codec, bool feedback) {
  Json coded = codec.options;
  coded["name"] = codec.name;
  return {{"name", name}, {"codec", coded}, {"error_feedback", feedback}};
}

class CodedGradients : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string reason = world_unavailable(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  Vectors trained(const Who& who, Json spec, long steps, const Json& optimizer) {
    Cluster cluster;
    cluster.nodes = who.ranks / 2;
    cluster.workers_per_node = 2;
    spec["hierarchical"] = who.hierarchical;
    Vectors weights;
    for (const AffineEnd& end : train({.world = GetParam(),
                                .cluster = cluster,
                                .algorithm = spec,
                                .steps = steps,
                                .slope = double{kSlope},
                                .tilt = double{kTilt},
                                .alternating = true,
                                .lr = double{kLr},
                                .numel = kNumel,
                                .optimizer = optimizer}))
      weights.push_back(end.weights);
    return weights;
  }

  using Make = std::function<Average(const Who&)>;
  using Follow = Vector (*)(const Who&, const Average&);
  /// On 4 and 8 workers, flat and as nodes of two, follows `average`, and does not follow `others`.
  void check(const Json& spec, const Make& average, const std::vector<Make>& others,
             Follow follow = follow_gradients, long steps = kSteps, const Json& optimizer = {}) {
    for (const Who who : {Who{4, false}, Who{8, false}, Who{4, true}, Who{8, true}}) {
      SCOPED_TRACE(testing::Message()
                   << spec << " on " << who.ranks << " workers, hierarchical " << who.hierarchical);
      const auto everywhere = [&](const Make& make) {
        return Vectors(static_cast<std::size_t>(who.ranks), follow(who, make(who)));
      };
      const Vectors expected = everywhere(average);
      expect_vectors_near(trained(who, spec, steps, optimizer), expected, 3e-5f);
      for (const Make& other : others)
        EXPECT_GT(largest_difference(expected, everywhere(other)), 3e-4) << "makes a difference";
    }
  }
};

Average exact(const Who&) { return mean; }

TEST_P(CodedGradients, ByteGradAndQsgdAverageCodesAndCodeTheMean) {
  struct Case {
    const char* name;
    CodecSpec codec;
  };
  for (const auto& [name, codec] :
       {Case{"bytegrad", {"minmax_uint8"}}, Case{"qsgd", {"qsgd", {{"levels", 7}}}}})
    for (const bool feedback : {false, true}) {
      const auto coded = [c = codec](bool with) {
        return [c, with](const Who& who) { return scattered(who, c, with); };
      };
      check(with_codec(name, codec, feedback), coded(feedback), {exact, coded(!feedback)});
    }
}

TEST_P(CodedGradients, TopKAveragesWhatIsLargestAndKeepsTheRest) {
  const CodecSpec codec{"topk", {{"density", 0.2}}};
  for (const bool feedback : {false, true}) {
    const auto coded = [&](bool with) {
      return [&codec, with](const Who& who) { return gathered(who, codec, with); };
    };
    check(with_codec("topk", codec, feedback), coded(feedback), {exact, coded(!feedback)});
  }
}

TEST_P(CodedGradients, PowerSgdAveragesFactors) {
  for (const bool feedback : {true, false})
    for (const bool warm : {true, false}) {
      const auto factored = [](bool with, bool kept) {
        return [=](const Who&) {
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
  };
  for (const auto& [name, codec] : {Case{"onebit_adam", {"sign"}}, Case{"qadam", {"minmax_uint8"}}})
    for (const bool feedback : {false, true}) {
      const auto coded = [c = codec](bool with) {
        return [c, with](const Who& who) { return scattered(who, c, with); };
      };
      Json spec = with_codec(name, codec, feedback);
      spec["warmup_steps"] = 1;
      check(spec, coded(feedback), {exact, coded(!feedback)}, follow_moments, kSteps + 1,
            {{"name", "sgd"}, {"lr", kLr}, {"momentum", kMomentum}});
    }
}

TEST_P(CodedGradients, QAdamKeepsItsVariance) {
  const CodecSpec codec{"minmax_uint8"};
  Json spec = with_codec("qadam", codec, false);
  spec["warmup_steps"] = 2;
  check(spec, [&](const Who& who) { return scattered(who, codec, false); }, {exact}, follow_adam,
        kSteps + 2, {{"name", "adam"}, {"lr", kAdamLr}});
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodedGradients, ::testing::ValuesIn(world_names()),
                         [](const auto& world) { return world.param; });

}  // namespace
}  // namespace trigram::test
