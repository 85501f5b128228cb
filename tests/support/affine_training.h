#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/algorithm.h"
#include "core/config/option_type.h"
#include "netmodels/cluster.h"

namespace trigram::test {

/// A training run on the AffineWorkload: weights start at 1, the gradient of worker r (of those
/// that do not only serve) at x is slope x + r + 1, the optimiser is SGD unless another is named.
/// Bare: nothing is metered or charged.
struct AffineTraining {
  std::string world;
  Cluster cluster;
  Json algorithm = nullptr;  // "name" or {"name": ..., options}
  long steps = 3;
  double slope = 0.5;
  double tilt = 0;           // gradient i: slope x + (r + 1) (1 + tilt i)
  bool alternating = false;  // for odd i: slope x - (r + 1) (1 + tilt i)
  double lr = 0.125;
  std::size_t numel = 10;
  bool start_at_rank = false;  // weights, instead of at 1
  double compute_s = 1e-4;     // of forward and of each half of backward
  /// Seconds by which a rank is held up before a step; nobody when empty.
  std::function<double(int rank, long step)> delay = {};
  Json optimizer = nullptr;  // null: sgd with `lr`
};

/// What one rank ends with.
struct AffineEnd {
  std::vector<float> weights;
  std::vector<float> path;  // the first weight after each step
  Steps::Staleness staleness;
};
/// Trains, and hands back every rank's end.
std::vector<AffineEnd> train(const AffineTraining& training);

/// The one number that all weights of a rank are, by rank; fails the test unless they are equal.
std::vector<double> common_weights(const std::vector<AffineEnd>& ends);

/// The same after each step: [step][rank], of the first weight.
std::vector<std::vector<double>> paths(const std::vector<AffineEnd>& ends);

/// Fails the test unless the numbers are equal within 1e-5.
void expect_near(const std::vector<double>& actual, const std::vector<double>& expected);

double mean(const std::vector<double>& x);

}  // namespace trigram::test
