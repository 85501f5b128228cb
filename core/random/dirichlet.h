#pragma once

#include <cstddef>
#include <vector>

#include "core/random/philox.h"

namespace trigram {

/// A draw of the symmetric Dirichlet distribution: `n` shares that sum to 1; the smaller `alpha` (>
/// 0), the more uneven. The shares are gamma variates over their sum (Marsaglia and Tsang, "A
/// Simple Method for Generating Gamma Variables", 2000, doi:10.1145/358407.358414), taken in
/// logarithms, so that those of a small alpha do not vanish together. No libm: the same on all
/// machines.
std::vector<double> dirichlet(Philox& random, double alpha, std::size_t n);

}  // namespace trigram
