#pragma once

#include "experiments/tune/gaussian_process.h"

namespace trigram {

// How promising it is to evaluate a point, given what the process predicts there and the least
// value so far, `best`. More is better; a smaller value of the function is an improvement.

/// E[max(best - y, 0)] = d (z F(z) + f(z)), z = (best - mean) / deviation, where F and f are the
/// distribution and the density of the standard normal distribution (Jones, Schonlau and Welch,
/// "Efficient Global Optimization of Expensive Black-Box Functions", 1998, equation 15,
/// doi:10.1023/A:1008306431147).
double expected_improvement(const GaussianProcess::Prediction& prediction, double best);

/// Its logarithm, which is finite where the expected improvement itself underflows, so that points
/// without much promise can be ranked, too (Ament et al., arXiv 2310.20708). -infinity if the
/// deviation is 0 and nothing is gained.
double log_expected_improvement(const GaussianProcess::Prediction& prediction, double best);

/// The probability that the value is below `best`.
double probability_of_improvement(const GaussianProcess::Prediction& prediction, double best);

}  // namespace trigram
