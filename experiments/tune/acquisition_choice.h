#pragma once

#include <array>

#include "experiments/tune/gaussian_process.h"
#include "experiments/tune/maximise.h"

namespace trigram {

/// Chooses among three acquisition functions by their past success (GP-Hedge: Hoffman, Brochu and
/// de Freitas, "Portfolio Allocation for Bayesian Optimization", 2011, arXiv 1009.5419), as
/// "gp_hedge" of scikit-optimize does (github.com/scikit-optimize/scikit-optimize): the lower
/// confidence bound with kappa = 1.96 deviations, and the expected improvement and the probability
/// of improvement, both over the best value minus xi = 0.01 (defaults of _gaussian_acquisition in
/// skopt/acquisition.py at 3e23b631). A function is drawn with a probability proportional to
/// exp(eta g), eta = 1. After each fit, the gain g of a function decreases by the mean that the
/// process predicts at the function's last proposal (Optimizer.__init__ and _tell in
/// skopt/optimizer/optimizer.py at 8e06cde1). xi and g have the unit of the values that the process
/// is fitted to: in BAGUA the negative speed in 2^30 bytes of gradients per second, here -1/cost
/// (ValueScale::reciprocal).
class AcquisitionChoice {
 public:
  static constexpr std::size_t kCount = 3;
  using Proposals = std::array<Position, kCount>;

  /// The value of acquisition function `index`; larger is better. `best` is the smallest observed
  /// value, because the process is minimised.
  static double value(std::size_t index, const GaussianProcess::Prediction& prediction,
                      double best);
  /// Draws one of `proposals` (one per acquisition function) with a probability that grows
  /// exponentially with the function's gain. `uniform` is a random number in [0, 1). The result is
  /// valid until the next call.
  const Position& choose(Proposals proposals, double uniform);
  /// Adds the negative predicted mean at each function's last proposal to its gain. Call this after
  /// the process has been fitted again.
  void credit(const GaussianProcess& process);

 private:
  std::array<double, kCount> gains_{};
  Proposals last_{};
};

}  // namespace trigram
