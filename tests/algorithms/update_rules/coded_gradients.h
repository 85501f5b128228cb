#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "tests/oracles/coded_average_reference.h"
#include "tests/support/affine_training.h"
#include "tests/support/weight_vectors.h"
#include "tests/support/worlds.h"

// Methods that average encoded gradients, compared with plain loops over their equations. Weights
// and gradients differ from element to element.

namespace trigram::test::coded {

inline constexpr float kLr = 0.125f, kSlope = 0.5f, kTilt = 0.13f;
inline constexpr std::size_t kNumel = 86, kBuckets = 2;
inline constexpr long kSteps = 3;
inline constexpr std::uint64_t kSeed = 0;  // the seed of these runs

/// Returns the average of one bucket over the exchanging ranks.
using Average = std::function<Vector(const Vectors& of, int bucket, long step)>;

/// The exchanging ranks: all ranks, or the first of every two ranks.
struct Who {
  int ranks;
  bool hierarchical;

  std::vector<int> exchanging() const {
    std::vector<int> all;
    for (int rank = 0; rank < ranks; rank += hierarchical ? 2 : 1) all.push_back(rank);
    return all;
  }
  /// The vectors of the exchanging ranks, from those of all ranks. In a hierarchy they are the
  /// means of nodes of two.
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

inline Vector plain_mean(const Vectors& of, int, long) {
  Vector sum(of.at(0).size(), 0);
  for (const Vector& x : of)
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i] / static_cast<float>(of.size());
  return sum;
}

inline Average scattered(const Who& who, const CodecSpec& codec, bool feedback) {
  const auto reference =
      std::make_shared<CodedAverageReference>(codec, feedback, kSeed, who.exchanging());
  return [reference](const Vectors& of, int bucket, long step) {
    return reference->scattered(of, bucket, step);
  };
}

inline Average gathered(const Who& who, const CodecSpec& codec, bool feedback) {
  const auto reference =
      std::make_shared<CodedAverageReference>(codec, feedback, kSeed, who.exchanging());
  return [reference](const Vectors& of, int bucket, long step) {
    return reference->gathered(of, bucket, step);
  };
}

/// The average of every bucket of the ranks' vectors.
inline Vector averaged(const Who& who, const Vectors& of, const Average& average, long step) {
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

/// g_r(x)[i] = slope x[i] +- (r + 1) (1 + tilt i). Every part has both signs.
inline Vectors gradients(const Vector& x, int ranks) {
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
inline Vector follow_gradients(const Who& who, const Average& average) {
  Vector x(kNumel, 1);
  for (long t = 0; t < kSteps; ++t) {
    const Vector g = averaged(who, gradients(x, who.ranks), average, t);
    for (std::size_t i = 0; i < kNumel; ++i) x[i] -= kLr * g[i];
  }
  return x;
}

inline Json with_codec(const char* name, const CodecSpec& codec, bool feedback) {
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
  /// Checks on 4 and 8 workers, flat and in nodes of two, that the result follows `average` and
  /// none of `others`.
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

inline Average exact(const Who&) { return plain_mean; }

}  // namespace trigram::test::coded
