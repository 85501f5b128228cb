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
using Average = std::function<Vector(const Vectors& inputs, int bucket, long step)>;

/// The workers of a run. In a hierarchy they form nodes of two, and only node leaders exchange.
struct WorkerSetup {
  int ranks;
  bool hierarchical;

  std::vector<int> exchanging_ranks() const {
    std::vector<int> exchanging;
    for (int rank = 0; rank < ranks; rank += hierarchical ? 2 : 1) exchanging.push_back(rank);
    return exchanging;
  }
  /// The vectors that are exchanged if `x` has the vectors of all ranks: in a hierarchy, the means
  /// of the nodes.
  Vectors exchanged(const Vectors& x) const {
    if (!hierarchical) return x;
    Vectors means;
    for (std::size_t r = 0; r < x.size(); r += 2) {
      means.push_back(x[r]);
      for (std::size_t i = 0; i < x[r].size(); ++i) means.back()[i] = (x[r][i] + x[r + 1][i]) / 2;
    }
    return means;
  }
};

inline constexpr WorkerSetup kWorkerSetups[] = {{4, false}, {8, false}, {4, true}, {8, true}};

inline Vector plain_mean(const Vectors& inputs, int, long) {
  Vector sum(inputs.at(0).size(), 0);
  for (const Vector& x : inputs)
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i] / static_cast<float>(inputs.size());
  return sum;
}

inline Average scattered(const WorkerSetup& workers, const CodecSpec& codec, bool feedback) {
  const auto reference =
      std::make_shared<CodedAverageReference>(codec, feedback, kSeed, workers.exchanging_ranks());
  return [reference](const Vectors& inputs, int bucket, long step) {
    return reference->scattered(inputs, bucket, step);
  };
}

inline Average gathered(const WorkerSetup& workers, const CodecSpec& codec, bool feedback) {
  const auto reference =
      std::make_shared<CodedAverageReference>(codec, feedback, kSeed, workers.exchanging_ranks());
  return [reference](const Vectors& inputs, int bucket, long step) {
    return reference->gathered(inputs, bucket, step);
  };
}

/// The average of every bucket of the ranks' vectors.
inline Vector averaged(const WorkerSetup& workers, const Vectors& x, const Average& average,
                       long step) {
  const Vectors exchanged = workers.exchanged(x);
  Vector result;
  for (std::size_t b = 0; b < kBuckets; ++b) {
    Vectors parts;
    for (const Vector& v : exchanged)
      parts.emplace_back(v.data() + kNumel * b / kBuckets, v.data() + kNumel * (b + 1) / kBuckets);
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

/// The weights after training by x = x - lr avg(g_i(x)).
inline Vector train_on_gradients(const WorkerSetup& workers, const Average& average) {
  Vector x(kNumel, 1);
  for (long t = 0; t < kSteps; ++t) {
    const Vector g = averaged(workers, gradients(x, workers.ranks), average, t);
    for (std::size_t i = 0; i < kNumel; ++i) x[i] -= kLr * g[i];
  }
  return x;
}

inline Json with_codec(const char* name, const CodecSpec& codec, bool feedback) {
  Json coded = codec.options;
  coded["name"] = codec.name;
  return {{"name", name}, {"codec", coded}, {"error_feedback", feedback}};
}

class CodedGradients : public NamedWorldTest {
 protected:
  Vectors trained(const WorkerSetup& workers, Json spec, long steps, const Json& optimizer) {
    spec["hierarchical"] = workers.hierarchical;
    return weights_of(train({.world = GetParam(),
                             .cluster = nodes_of_two(workers.ranks / 2),
                             .algorithm = spec,
                             .steps = steps,
                             .slope = double{kSlope},
                             .tilt = double{kTilt},
                             .alternating = true,
                             .lr = double{kLr},
                             .numel = kNumel,
                             .optimizer = optimizer}));
  }

  using MakeAverage = std::function<Average(const WorkerSetup&)>;
  using TrainingLoop = Vector (*)(const WorkerSetup&, const Average&);
  /// Checks on 4 and 8 workers, flat and in nodes of two, that the result is that of `loop` with
  /// `average`, and differs from the results with each of `others`.
  void check(const Json& spec, const MakeAverage& average, const std::vector<MakeAverage>& others,
             TrainingLoop loop = train_on_gradients, long steps = kSteps,
             const Json& optimizer = {}) {
    for (const WorkerSetup workers : kWorkerSetups) {
      SCOPED_TRACE(testing::Message() << spec << " on " << workers.ranks
                                      << " workers, hierarchical " << workers.hierarchical);
      const auto weights = [&](const MakeAverage& make) {
        return Vectors(static_cast<std::size_t>(workers.ranks), loop(workers, make(workers)));
      };
      const Vectors expected = weights(average);
      expect_vectors_near(trained(workers, spec, steps, optimizer), expected, 3e-5f);
      for (const MakeAverage& other : others)
        EXPECT_GT(largest_difference(expected, weights(other)), 3e-4) << "makes a difference";
    }
  }
};

inline Average exact(const WorkerSetup&) { return plain_mean; }

}  // namespace trigram::test::coded
