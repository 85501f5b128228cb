#pragma once

#include <optional>
#include <vector>

#include "experiments/tune/gaussian_process.h"

namespace trigram {

/// A point that was evaluated; the value is empty if the evaluation failed.
struct EvaluatedPoint {
  Position position;
  std::optional<double> value;
};

/// How values are transformed before a process is fitted to them.
enum class ValueScale {
  logarithm,   // log y, or y if a value is not positive; a factor counts the same everywhere
  reciprocal,  // -1/y, a negative speed
};

/// A Gaussian process that is fitted to evaluations. A failed evaluation counts as the worst value
/// that was seen, so that the search leaves its surroundings.
class Surrogate {
 public:
  /// Needs at least one evaluation with a value. Fits the hyperparameters from `start`.
  Surrogate(const SearchSpace& space, const std::vector<EvaluatedPoint>& evaluations,
            ValueScale scale, const GaussianProcess::Hyperparameters& start);

  const GaussianProcess& process() const { return *process_; }
  /// The least transformed value.
  double best() const { return best_; }
  /// Adds an observation of exactly what the process predicts at a position whose evaluation has
  /// not ended, so that the next proposal differs: the Kriging believer of Ginsbourger, Le Riche
  /// and Carraro, "Kriging is well-suited to parallelize optimization", 2010
  /// (doi:10.1007/978-3-642-10701-6_6).
  void believe(const Position& position);
  /// The value at `position` minus and plus 1.96 standard deviations of prediction and noise.
  std::pair<double, double> interval(const Position& position) const;

 private:
  double transformed(double value) const;
  double original(double transformed) const;

  ValueScale scale_;
  bool positive_ = true;  // all values are
  GaussianProcess::Observations observations_;
  std::optional<GaussianProcess> process_;
  double best_ = 0;
};

}  // namespace trigram
