#pragma once

namespace trigram {

/// Memory traffic and arithmetic of one operation, in bytes and floating-point operations. What it
/// costs in seconds is the accelerator's matter (its memory bandwidth, flop rate, launch overhead).
struct Cost {
  double bytes = 0;
  double flops = 0;
  /// Nothing is launched for nothing.
  bool nothing() const { return bytes == 0 && flops == 0; }
};

inline Cost operator*(double factor, const Cost& cost) {
  return {factor * cost.bytes, factor * cost.flops};
}

}  // namespace trigram
