#pragma once

#include <algorithm>
#include <cstddef>

namespace trigram::test {

/// The costs in the closed forms: a flat, contention-free network on which a message of n bytes
/// takes alpha + n beta, and an accelerator on which an operation takes its launch overhead plus
/// the larger of memory time and arithmetic time. All vectors are f32; lengths are in elements.
struct CostModel {
  double alpha_s = 0;
  double beta_s = 0;  // per byte
  double launch_s = 0;
  double memory_s = 0;  // per byte
  double flop_s = 0;    // per floating-point operation

  double message(std::size_t n) const { return alpha_s + 4.0 * static_cast<double>(n) * beta_s; }
  /// y = y + x reads two vectors and writes one. It is priced as the general a x + b y, with three
  /// floating-point operations per element.
  double accumulate(std::size_t n) const { return operation(n, 12, 3); }
  /// x = a x reads and writes x.
  double scale(std::size_t n) const { return operation(n, 8, 1); }
  double copy(std::size_t n) const { return operation(n, 8, 0); }

 private:
  double operation(std::size_t n, double bytes, double flops) const {
    if (n == 0) return 0;  // an empty operation has no launch
    const auto elements = static_cast<double>(n);
    return launch_s + std::max(elements * bytes * memory_s, elements * flops * flop_s);
  }
};

}  // namespace trigram::test
