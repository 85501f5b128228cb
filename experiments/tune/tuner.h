#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "experiments/tune/acquisition_choice.h"
#include "experiments/tune/search_space.h"
#include "experiments/tune/surrogate.h"

namespace trigram {

/// How the points to evaluate are chosen.
enum class TuneMethod {
  /// Points of Halton's sequence, then those with the largest expected improvement.
  bayesian,
  /// Random points, each at most once if the space is finite.
  random,
  /// What BAGUA's autotuning service does (github.com/BaguaSys/bagua,
  /// bagua/service/bayesian_optimizer.py): 20 points of Halton's sequence, then those of
  /// scikit-optimize's "gp_hedge" on the negative speed. Points may be repeated.
  bagua,
  /// A regular grid with as many points as there are evaluations.
  grid
};

/// Minimises a function that is evaluated elsewhere: `ask` proposes points, `tell` reports values.
/// Proposals depend only on the space, the options, and the order of calls.
class Tuner {
 public:
  struct Options {
    TuneMethod method = TuneMethod::bayesian;
    std::size_t evaluations = 60;  // the number of points of a grid
    std::uint64_t seed = 1;        // 0: Halton's sequence itself, without a random shift
    std::size_t initial = 0;       // points of Halton's sequence; 0: 20 for `bagua`, else 4
  };
  Tuner(SearchSpace space, Options options);

  /// Proposes points that are to be evaluated together; fewer than `count` if the space or the grid
  /// has no more.
  std::vector<Position> ask(std::size_t count);
  /// Reports a value, or that the evaluation failed. The point may come from elsewhere. Values are
  /// finite.
  void tell(const Position& position, std::optional<double> value);

  const SearchSpace& space() const { return space_; }
  const std::vector<EvaluatedPoint>& evaluations() const { return evaluations_; }
  /// The index of the evaluation with the least value, the first if equal; empty if there is none.
  std::optional<std::size_t> best() const;
  /// An interval that contains the value of a point with a probability of 95 %, as a process that
  /// is fitted to all evaluations predicts. Empty if fewer than three evaluations have a value.
  std::optional<std::pair<double, double>> interval(const Position& position) const;

 private:
  std::optional<Position> propose();
  std::optional<Position> next_of_grid();
  std::optional<Position> fresh(const std::function<Position()>& draw);
  std::optional<Position> start_point();
  std::optional<Position> random_point();
  std::optional<Position> promising();
  Surrogate surrogate() const;
  std::optional<Position> maximum(const CubeFunction& function, bool repeats);
  double uniform();
  bool is_exhausted() const;
  bool may_model() const;

  SearchSpace space_;
  Options options_;
  std::optional<std::size_t> size_;
  std::vector<Position> candidates_;  // all points of a small space, or those of the grid
  std::vector<EvaluatedPoint> evaluations_;
  std::vector<Position> pending_;  // asked for, but not told
  std::set<Position> known_;       // asked for or told
  std::size_t asked_ = 0, halton_ = 0, next_ = 0;
  Position shift_;
  std::uint64_t draws_ = 0;
  GaussianProcess::Hyperparameters hyperparameters_;
  std::optional<Surrogate> model_;  // of all evaluations and pending points
  AcquisitionChoice choice_;        // of `bagua`
};

}  // namespace trigram
