#pragma once

namespace trigram {

/// Memory traffic and arithmetic of one operation, in bytes and floating-point operations. The
/// accelerator's model (rates, launch overhead) turns a cost into seconds.
struct Cost {
  /// Kinds of operations for which an accelerator can have separate rates. `codec`: encoding and
  /// decoding; `reduction`: sums, means and maxima of vectors; `synchronization`: waits of the host
  /// for the accelerator; `host`: passes through host memory between accelerator and network.
  enum class Kind { other, codec, reduction, copy, synchronization, host };
  double bytes = 0;
  double flops = 0;
  Kind kind = Kind::other;
  int launches = 1;  // kernel launches, each of which costs the launch overhead
  /// True for an operation without bytes and FLOPs, which costs no launch overhead either.
  bool is_noop() const { return bytes == 0 && flops == 0; }
};

/// Receives the costs of operations.
class CostSink {
 public:
  virtual ~CostSink() = default;
  virtual void charge(const Cost& cost) = 0;
};

inline Cost operator*(double factor, const Cost& cost) {
  return {factor * cost.bytes, factor * cost.flops, cost.kind, cost.launches};
}

}  // namespace trigram
