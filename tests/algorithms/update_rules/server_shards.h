#pragma once

#include <cstddef>
#include <vector>

#include "tests/oracles/coded_average_reference.h"
#include "tests/support/affine_training.h"
#include "tests/support/weight_vectors.h"
#include "tests/support/worlds.h"

// Asynchronous methods whose workers push changes to model shards on servers and pull the shards,
// with three workers and weights that differ.

namespace trigram::test::server_shards {

inline constexpr float kLr = 0.125f, kSlope = 0.5f, kTilt = 0.07f;
inline constexpr std::size_t kNumel = 43, kRanks = 3;

inline void add(float a, const Vector& x, Vector& sum) {
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] += a * x[i];
}

/// One shard of a model on a server among the workers: the server's weights, which are 1 at first,
/// and its state for every worker.
struct ServerShard {
  std::size_t begin, end, server;
  Vector weights;
  Vectors seen, error;  // by worker
};

/// A model in nearly equal shards, which `Shard` derives from ServerShard. The servers are spread
/// evenly over the ranks.
template <class Shard>
std::vector<Shard> shards_on(std::size_t servers) {
  std::vector<Shard> shards;
  for (std::size_t s = 0; s < servers; ++s) {
    const std::size_t begin = kNumel * s / servers, end = kNumel * (s + 1) / servers;
    const Vector ones(end - begin, 1), zeros(end - begin, 0);
    shards.push_back(
        {{begin, end, s * kRanks / servers, ones, Vectors(kRanks, ones), Vectors(kRanks, zeros)}});
  }
  return shards;
}

template <class Shard>
Vector weights_of(const std::vector<Shard>& shards) {
  Vector all;
  for (const Shard& s : shards) all.insert(all.end(), s.weights.begin(), s.weights.end());
  return all;
}

/// The change of a shard by one step of `worker` at the weights x.
inline Vector change_of(const ServerShard& shard, std::size_t worker, const Vector& x) {
  Vector d;
  for (std::size_t i = shard.begin; i < shard.end; ++i) {
    const float offset = static_cast<float>(worker + 1) * (1 + kTilt * static_cast<float>(i));
    d.push_back(-kLr * (kSlope * x[i] + (i % 2 == 0 ? offset : -offset)));
  }
  return d;
}

/// The codec of a test case; null: none.
inline Coder coder_of(const Json& codec) {
  if (codec.is_null()) return [](const Vector& x) { return x; };
  return plain_coder({codec.at("name"), codec}, {});
}

/// Checks that training gives the weights, and the paths of the first weight, of `reference`.
template <class Reference>
void expect_trained(const AffineTraining& training, const Reference& reference, float tolerance) {
  const auto ends = train(training);
  Vectors paths;
  for (const AffineEnd& end : ends) paths.push_back(end.path);
  expect_vectors_near(weights_of(ends), Vectors(kRanks, reference.weights()), tolerance);
  expect_vectors_near(paths, reference.paths(), tolerance);
}

inline AffineTraining training_of(const std::string& world, const Json& algorithm, long steps) {
  return {.world = world,
          .cluster = flat_cluster(kRanks),
          .algorithm = algorithm,
          .steps = steps,
          .slope = double{kSlope},
          .tilt = double{kTilt},
          .alternating = true,
          .lr = double{kLr},
          .numel = kNumel};
}

}  // namespace trigram::test::server_shards
