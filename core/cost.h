#pragma once

namespace trigram {

/// Memory traffic and arithmetic of one operation, in bytes and floating-point operations. What it
/// costs in seconds is the accelerator's matter (its rates, launch overhead).
struct Cost {
  /// What kinds of operations accelerators may have rates of their own for: a codec's encoding and
  /// decoding; sums, means and maxima of vectors; copies; that the host waits for the accelerator;
  /// and what passes the host's memory on its way between accelerator and network.
  enum class Kind { other, codec, reduction, copy, synchronization, host };
  double bytes = 0;
  double flops = 0;
  Kind kind = Kind::other;
  int launches = 1;  // of the accelerator, each of which costs its overhead
  /// Nothing is launched for nothing.
  bool nothing() const { return bytes == 0 && flops == 0; }
};

/// Takes note of what operations cost.
class CostSink {
 public:
  virtual ~CostSink() = default;
  virtual void charge(const Cost& cost) = 0;
};

inline Cost operator*(double factor, const Cost& cost) {
  return {factor * cost.bytes, factor * cost.flops, cost.kind, cost.launches};
}

}  // namespace trigram
