#pragma once

#include <cstdint>
#include <vector>

#include "core/random/philox.h"

namespace trigram::test {

struct QsgdFormat {
  int levels, bits;
  std::size_t bucket;
  bool max_norm;
};

/// The code of x, element by element and bit by bit. The norms, one per bucket, are given, because
/// their last bits depend on the order of summation. It shares only the generator of random numbers
/// with core/.
std::vector<std::uint8_t> qsgd_wire(const QsgdFormat& format, const std::vector<float>& x,
                                    const std::vector<float>& norms, const Philox& random);
/// The norms in a wire.
std::vector<float> qsgd_norms(const QsgdFormat& format, const std::vector<std::uint8_t>& wire,
                              std::size_t numel);
/// The norm of one bucket, in extended precision.
double qsgd_norm(const QsgdFormat& format, const float* x, std::size_t n);

}  // namespace trigram::test
