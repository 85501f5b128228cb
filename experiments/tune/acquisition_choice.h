#pragma once

#include <array>

#include "experiments/tune/gaussian_process.h"
#include "experiments/tune/maximise.h"

namespace trigram {

/// Chooses among three acquisition functions by their past success (GP-Hedge: Hoffman, Brochu and
/// de Freitas, "Portfolio Allocation for Bayesian Optimization", 2011, arXiv 1009.5419), as
/// "gp_hedge" of scikit-optimize does (github.com/scikit-optimize/scikit-optimize): the lower
/// confidence bound with kappa = 1.96 deviations, and the expected and the probability of an
/// improvement by xi = 0.01 (defaults of _gaussian_acquisition in skopt/acquisition.py at
/// 3e23b631). Functions are drawn with a probability in proportion to exp(eta g), eta = 1, and
/// after each fit the gain g of a function falls by the mean at its last proposal
/// (Optimizer.__init__ and _tell in skopt/optimizer/optimizer.py at 8e06cde1). Both xi and g have
/// the unit of the values, a negative speed: in BAGUA 2^30 bytes of gradients per second, here 1/s,
/// since a cost need not be a time.
class AcquisitionChoice {
 public:
  static constexpr std::size_t kCount = 3;
  using Proposals = std::array<Position, kCount>;

  /// The value of acquisition function `index`; more is better.
  static double value(std::size_t index, const GaussianProcess::Prediction& prediction,
                      double best);
  /// Chooses one of the proposals, one of each function, with a probability that grows
  /// exponentially with the function's gains. `uniform` is a random number in [0, 1).
  const Position& choose(Proposals proposals, double uniform);
  /// Credits each function with the negative prediction at its last proposal, now that the process
  /// knows more.
  void credit(const GaussianProcess& process);

 private:
  std::array<double, kCount> gains_{};
  Proposals last_{};
};

}  // namespace trigram
