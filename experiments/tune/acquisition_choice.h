#pragma once

#include <array>

#include "experiments/tune/gaussian_process.h"
#include "experiments/tune/maximise.h"

namespace trigram {

/// Chooses among three acquisition functions by their past success (GP-Hedge: Hoffman, Brochu and
/// de Freitas, "Portfolio Allocation for Bayesian Optimization", 2011, arXiv 1009.5419, with the
/// constants of scikit-optimize): the lower confidence bound with 1.96 deviations, and the expected
/// and the probability of an improvement by 0.01.
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
