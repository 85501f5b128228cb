#include <gtest/gtest.h>

#include "algorithms/peers/registry.h"
#include "core/codecs/registry.h"
#include "tests/oracles/codec_references.h"
#include "tests/support/affine_training.h"
#include "tests/support/mixing.h"
#include "tests/support/weight_vectors.h"
#include "tests/support/worlds.h"

// The methods that exchange encoded differences with the neighbours of a peer graph, compared with
// plain loops over their equations. Weights differ.

namespace trigram::test::coded_peer_methods_test {
namespace {

constexpr double kLr = 0.125, kSlope = 0.5;
constexpr float kTilt = 0.3f;
constexpr std::size_t kNumel = 40;

/// a x + b y
Vector sum(float a, const Vector& x, float b, const Vector& y) {
  Vector result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = a * x[i] + b * y[i];
  return result;
}

/// x_r - lr g_r(x_r), where the gradient of weight i is slope x + (r + 1) (1 + tilt i).
Vector local_step(const Vector& x, std::size_t rank) {
  Vector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = x[i] - static_cast<float>(kLr) *
                      (static_cast<float>(kSlope) * x[i] +
                       static_cast<float>(rank + 1) * (1 + kTilt * static_cast<float>(i)));
  return y;
}

Vector coded(const Vector& x) { return minmax_uint8_decode(minmax_uint8_encode(x), x.size()); }

AffineTraining training_of(const std::string& world, const Json& spec, int ranks, long steps) {
  return {.world = world,
          .cluster = flat_cluster(ranks),
          .algorithm = spec,
          .steps = steps,
          .slope = kSlope,
          .tilt = double{kTilt},
          .lr = kLr,
          .numel = kNumel};
}

Vectors trained_vectors(const std::string& world, const Json& spec, int ranks, long steps = 3) {
  return weights_of(train(training_of(world, spec, ranks, steps)));
}

Json over(const char* name, const char* graph) { return {{"name", name}, {"graph", graph}}; }

class CodedPeerMethods : public NamedWorldTest {};

/// Low-precision decentralised training as in BAGUA. Every rank of a ring has three replicas, which
/// change after steps 0, `interval`, ...
template <class Code>
Vectors bagua_ring(std::size_t P, Code code, long steps = 3, long interval = 1) {
  const Vector ones(kNumel, 1);
  Vectors left(P, ones), right(P, ones), own(P, ones), c(P), x(P, ones);
  for (long t = 0; t < steps; ++t) {
    for (std::size_t r = 0; r < P; ++r) x[r] = local_step(x[r], r);
    if (t % interval != 0) continue;
    for (std::size_t r = 0; r < P; ++r) {
      const Vector& y = x[r];
      const Vector neighbours = sum(1.0f / 3, left[r], 1.0f / 3, right[r]);
      c[r] = code(sum(1, sum(1, y, 1, neighbours), -5.0f / 3, own[r]));
    }
    for (std::size_t r = 0; r < P; ++r) {
      left[r] = sum(1, left[r], 1, c[(r + P - 1) % P]);
      right[r] = sum(1, right[r], 1, c[(r + 1) % P]);
      x[r] = own[r] = sum(1, own[r], 1, c[r]);
    }
  }
  return x;
}

TEST_P(CodedPeerMethods, DcdOnARingIsBaguasLowPrecisionDecentralised) {
  for (const int P : {4, 8}) {
    SCOPED_TRACE(P);
    const Vectors expected = bagua_ring(static_cast<std::size_t>(P), coded);
    expect_vectors_near(trained_vectors(GetParam(), over("dcd_psgd", "ring"), P), expected, 2e-5f);
    const Vectors exact =
        bagua_ring(static_cast<std::size_t>(P), [](const Vector& z) { return z; });
    EXPECT_GT(largest_difference(expected, exact), 1e-3) << "the code loses something";
  }
}

/// Every bucket has its own range, and hence its own code. The workload has two buckets of equal
/// length.
TEST_P(CodedPeerMethods, DcdEncodesBucketsSeparatelyAndStepsLocallyBetweenExchanges) {
  const auto by_halves = [](const Vector& z) {
    Vector both = coded(Vector(z.begin(), z.begin() + kNumel / 2));
    const Vector second = coded(Vector(z.begin() + kNumel / 2, z.end()));
    both.insert(both.end(), second.begin(), second.end());
    return both;
  };
  for (const int interval : {1, 2}) {
    SCOPED_TRACE(interval);
    Json spec = over("dcd_psgd", "ring");
    spec["bucket"] = "0B";
    spec["communication_interval"] = interval;
    const Vectors expected = bagua_ring(4, by_halves, 4, interval);
    expect_vectors_near(trained_vectors(GetParam(), spec, 4, 4), expected, 2e-5f);
    EXPECT_GT(largest_difference(expected, bagua_ring(4, coded, 4, interval)), 1e-4);
  }
}

/// CHOCO-SGD with one replica per model, since all copies of a replica are equal.
template <class Code>
Vectors choco(const PeerGraphSpec& graph, std::size_t P, float gamma, Code code) {
  Vectors x(P, Vector(kNumel, 1)), replica = x, half(P);
  for (long t = 0; t < 3; ++t) {
    for (std::size_t r = 0; r < P; ++r) {
      half[r] = local_step(x[r], r);
      replica[r] = sum(1, replica[r], 1, code(sum(1, half[r], -1, replica[r])));
    }
    const Matrix w = assemble(*make_peer_graph(graph), static_cast<int>(P), t);
    for (std::size_t i = 0; i < P; ++i) {
      x[i] = half[i];
      for (std::size_t j = 0; j < P; ++j)
        x[i] =
            sum(1, x[i], gamma * static_cast<float>(w[i][j]), sum(1, replica[j], -1, replica[i]));
    }
  }
  return x;
}

TEST_P(CodedPeerMethods, ChocoGossipsOnReplicas) {
  for (const char* graph : {"ring", "star", "torus"})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph << " of " << P);
      const auto n = static_cast<std::size_t>(P);
      const Vectors expected = choco({graph}, n, 0.5f, coded);
      expect_vectors_near(trained_vectors(GetParam(), over("choco_sgd", graph), P), expected,
                          2e-5f);
      const Vectors exact = choco({graph}, n, 0.5f, [](const Vector& z) { return z; });
      EXPECT_GT(largest_difference(expected, exact), 1e-3) << "the code loses something";
    }
}

/// DeepSqueeze: the loss of a code is added to the next model that is encoded.
template <class Code>
Vectors deepsqueeze(const PeerGraphSpec& graph, std::size_t P, float gamma, bool feedback,
                    Code code) {
  Vectors x(P, Vector(kNumel, 1)), error(P, Vector(kNumel, 0)), c(P);
  for (long t = 0; t < 3; ++t) {
    for (std::size_t r = 0; r < P; ++r) {
      x[r] = local_step(x[r], r);
      const Vector v = sum(1, x[r], 1, error[r]);
      c[r] = code(v);
      if (feedback) error[r] = sum(1, v, -1, c[r]);
    }
    const Matrix w = assemble(*make_peer_graph(graph), static_cast<int>(P), t);
    for (std::size_t i = 0; i < P; ++i)
      for (std::size_t j = 0; j < P; ++j)
        x[i] = sum(1, x[i], gamma * static_cast<float>(w[i][j] - (i == j ? 1 : 0)), c[j]);
  }
  return x;
}

TEST_P(CodedPeerMethods, DeepSqueezeGossipsOnCodesOfModelsWithErrorFeedback) {
  for (const char* graph : {"ring", "star", "shift_one"})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph << " of " << P);
      const auto n = static_cast<std::size_t>(P);
      const Vectors expected = deepsqueeze({graph}, n, 0.4f, true, coded);
      Json spec = over("deepsqueeze", graph);
      spec["gamma"] = 0.4;
      expect_vectors_near(trained_vectors(GetParam(), spec, P), expected, 3e-5f);
      const auto identity = [](const Vector& z) { return z; };
      EXPECT_GT(largest_difference(expected, deepsqueeze({graph}, n, 0.4f, true, identity)), 1e-3);
      EXPECT_GT(largest_difference(expected, deepsqueeze({graph}, n, 0.4f, false, coded)), 1e-3);
    }
}

/// ECD-PSGD with one replica per model, since all copies of a replica are equal.
template <class Code>
Vectors ecd(const PeerGraphSpec& graph, std::size_t P, Code code) {
  Vectors x(P, Vector(kNumel, 1)), replica = x;
  for (int t = 1; t <= 5; ++t) {
    const Matrix w = assemble(*make_peer_graph(graph), static_cast<int>(P), t);
    Vectors next;
    for (std::size_t i = 0; i < P; ++i) {
      next.push_back(sum(1, local_step(x[i], i), -1, x[i]));  // - lr g(x_i)
      for (std::size_t j = 0; j < P; ++j)
        next[i] = sum(1, next[i], static_cast<float>(w[i][j]), replica[j]);
    }
    const auto share = static_cast<float>(t) / 2;
    for (std::size_t i = 0; i < P; ++i) {
      const Vector z = sum(1 - share, x[i], share, next[i]);
      replica[i] = sum(1 - 1 / share, replica[i], 1 / share, code(z));
    }
    x = next;
  }
  return x;
}

TEST_P(CodedPeerMethods, EcdMixesReplicasThatFollowCodedExtrapolations) {
  for (const char* graph : {"ring", "star", "torus"})
    for (const int P : {4, 8}) {
      SCOPED_TRACE(testing::Message() << graph << " of " << P);
      const auto n = static_cast<std::size_t>(P);
      const Vectors expected = ecd({graph}, n, coded);
      Json spec = over("ecd_psgd", graph);
      spec["codec"] = "minmax_uint8";
      expect_vectors_near(trained_vectors(GetParam(), spec, P, 5), expected, 1e-4f);
      const Vectors exact = ecd({graph}, n, [](const Vector& z) { return z; });
      EXPECT_GT(largest_difference(expected, exact), 1e-2) << "the code loses something";
    }
}

/// W is symmetric, so gossip on replicas conserves the sum of all models, whatever the code loses,
/// provided that all copies of a replica are equal. If gradients do not depend on the weights, the
/// mean model then follows the mean gradient.
TEST_P(CodedPeerMethods, ChocoConservesTheMeanWithEveryCodec) {
  constexpr int kRanks = 6, kSteps = 5;
  for (const auto& entry : codecs()) {
    Json codec = {{"name", entry.name}};
    if (entry.name == "randk") codec.update({{"unbiased", false}, {"density", 0.25}});
    SCOPED_TRACE(codec);
    Json spec = over("choco_sgd", "ring");
    spec.update({{"codec", codec}, {"gamma", 0.3}});
    AffineTraining training = training_of(GetParam(), spec, kRanks, kSteps);
    training.slope = 0;
    const Vectors weights = weights_of(train(training));
    ASSERT_EQ(weights.size(), static_cast<std::size_t>(kRanks));
    for (std::size_t i = 0; i < kNumel; ++i) {
      double mean = 0, mean_rank = 0;
      for (std::size_t r = 0; r < kRanks; ++r) {
        mean += static_cast<double>(weights[r].at(i)) / kRanks;
        mean_rank += static_cast<double>(r + 1) / kRanks;
      }
      const double slant = 1 + static_cast<double>(kTilt) * static_cast<double>(i);
      EXPECT_NEAR(mean, 1 - kLr * kSteps * mean_rank * slant, 1e-3) << "weight " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CodedPeerMethods, every_named_world(), named_world_test_name);

}  // namespace
}  // namespace trigram::test::coded_peer_methods_test
