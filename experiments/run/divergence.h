#pragma once

#include <stdexcept>

namespace trigram {

/// The loss of a rank is no longer a number: training has diverged.
class DivergenceError : public std::runtime_error {
 public:
  DivergenceError(int rank, long step, double loss);
};

}  // namespace trigram
