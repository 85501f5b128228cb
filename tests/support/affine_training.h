#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/algorithm.h"
#include "core/config/option_type.h"
#include "netmodels/cluster.h"
#include "tests/support/worlds.h"

namespace trigram::test {

/// A training run on the AffineWorkload. Weights are 1 at first. The gradient of worker r at x is
/// slope x + r + 1; workers are numbered without ranks that only serve. The run has no metering and
/// no charges.
struct AffineTraining {
  std::string world;
  Cluster cluster;
  Json algorithm = nullptr;  // "name" or {"name": ..., options}
  long steps = 3;
  double slope = 0.5;
  double tilt = 0;           // the gradient of weight i is slope x + (r + 1) (1 + tilt i)
  bool alternating = false;  // for odd i it is slope x - (r + 1) (1 + tilt i)
  double lr = 0.125;
  std::size_t numel = 10;
  bool start_at_rank = false;      // weights start at the rank instead of at 1
  std::size_t priced_samples = 1;  // Workload::priced_batch
  double compute_s = 1e-4;         // seconds of forward, and of each half of backward
  /// Seconds by which a rank is delayed before a step; empty: no delays.
  std::function<double(int rank, long step)> delay = {};
  /// Factor on a rank's computation in a step; empty: 1.
  std::function<double(int rank, long step)> slowdown = {};
  Json optimizer = nullptr;  // null: SGD with the learning rate `lr`
  /// Workers come and go as the cluster's failures say, and the others carry on.
  bool carries_on = false;
  double clip_norm = std::numeric_limits<double>::infinity();  // infinite: not clipped
};

/// The result of one rank.
struct AffineEnd {
  std::vector<float> weights;
  std::vector<float> path;  // the first weight after each step; NaN if the worker was absent
  Steps::Staleness staleness;
};
/// Trains, and returns the results by rank.
std::vector<AffineEnd> train(const AffineTraining& training);

/// A test that trains in the world that is its parameter.
class AffineTest : public NamedWorldTest {
 protected:
  /// A run of `ranks` workers, each on its own node.
  static AffineTraining training(int ranks, const Json& algorithm, long steps, double slope = 0.5) {
    return {.world = GetParam(),
            .cluster = flat_cluster(ranks),
            .algorithm = algorithm,
            .steps = steps,
            .slope = slope};
  }
};

/// The weights by rank.
std::vector<std::vector<float>> weights_of(const std::vector<AffineEnd>& ends);

/// Returns, by rank, the value of the rank's weights. Fails the test unless all weights of a rank
/// are equal.
std::vector<double> common_weights(const std::vector<AffineEnd>& ends);

/// The first weight after each step: [step][rank].
std::vector<std::vector<double>> paths(const std::vector<AffineEnd>& ends);

/// Fails the test unless the numbers are equal within 1e-5.
void expect_near(const std::vector<double>& actual, const std::vector<double>& expected);

double mean(const std::vector<double>& x);

}  // namespace trigram::test
