#pragma once

#include <stdexcept>

namespace trigram {

/// Thrown if training has diverged: the loss of a rank is NaN or infinite.
class DivergenceError : public std::runtime_error {
 public:
  DivergenceError(int rank, long step, double loss);
};

}  // namespace trigram
