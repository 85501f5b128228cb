#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

#include "experiments/tune/search_space.h"

namespace trigram {

/// A Gaussian process with a constant mean and the Matern 5/2 kernel (Rasmussen and Williams,
/// "Gaussian Processes for Machine Learning", 2006, section 2.2 and equation 4.17):
///
///   k(x, y) = s^2 (1 + a + a^2/3) exp(-a),  a^2 = 5 sum_i (d_i / l_i)^2
///
/// d_i is the difference of the coordinates. In a categorical dimension it is 0 for equal values
/// and 1 for others. Observations have independent noise of variance s^2 g. Given the length scales
/// l_i and g, the mean and s^2 are those of maximum likelihood.
class GaussianProcess {
 public:
  struct Hyperparameters {
    std::vector<double> lengths;  // one for each dimension
    double noise = 1e-6;          // g
  };
  struct Observations {
    std::vector<Position> positions;
    std::vector<double> values;
    std::vector<bool> categorical;  // by dimension
  };
  struct Prediction {
    double mean = 0, deviation = 0;  // of the function without noise
  };

  /// Needs at least one observation.
  GaussianProcess(Observations observations, Hyperparameters hyperparameters);

  Prediction predict(const Position& position) const;
  /// The standard deviation of the noise of an observation.
  double noise_deviation() const;
  /// The logarithm of the marginal likelihood of the observations, without the term -n/2 (1 + log
  /// 2 pi), which does not depend on the hyperparameters.
  double log_likelihood() const { return log_likelihood_; }
  const Hyperparameters& hyperparameters() const { return hyperparameters_; }

 private:
  double correlation(const Position& a, const Position& b) const;
  void factorise();

  Observations seen_;
  Hyperparameters hyperparameters_;
  Eigen::LLT<Eigen::MatrixXd> factor_;  // of the observations' correlations and noise
  Eigen::VectorXd weights_;             // inverse correlations times deviations from the mean
  double mean_ = 0, variance_ = 1, log_likelihood_ = 0;
};

/// The hyperparameters with the largest marginal likelihood within their bounds, found by NLopt
/// from `start` and, at every fourth number of observations, from the middle of the bounds. Lengths
/// are from 0.05 to 20 times the unit cube, and the noise is from 1e-8 to 1 times the variance.
GaussianProcess::Hyperparameters most_likely(const GaussianProcess::Observations& observations,
                                             const GaussianProcess::Hyperparameters& start);

}  // namespace trigram
