#pragma once

#include <cstddef>
#include <vector>

#include "core/random/philox.h"

namespace trigram {

/// Draws from the symmetric Dirichlet distribution: `n` shares that sum to 1; the smaller `alpha`
/// (> 0), the more uneven they are. The shares are gamma variates divided by their sum (Marsaglia
/// and Tsang, "A Simple Method for Generating Gamma Variables", 2000, doi:10.1145/358407.358414).
/// They are computed as logarithms, so that they do not all underflow if alpha is small. Uses no
/// libm: the result is the same on all machines.
std::vector<double> dirichlet(Philox& random, double alpha, std::size_t n);

}  // namespace trigram
