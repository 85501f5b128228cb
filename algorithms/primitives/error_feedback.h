#pragma once

#include "core/context.h"

namespace trigram {

/// Error feedback (Seide et al., Interspeech 2014; Karimireddy et al., arXiv 1901.09847) around any
/// codec: what the code of one vector has lost is added to the next one.
///
///   encode:  v = x + e;  wire = C(v);  e = v - D(wire)
///
/// so that the sum of all that was decoded, plus e, is the sum of all that was encoded.
class ErrorFeedback final : public Codec {
 public:
  /// `residual` is e: as long as the vectors to encode, zero at first, kept by the caller.
  ErrorFeedback(Device& device, Codec& inner, Tensor residual)
      : device_(device), inner_(inner), residual_(std::move(residual)) {}
  std::size_t wire_bytes(std::size_t numel) const override { return inner_.wire_bytes(numel); }
  std::size_t priced_bytes(std::size_t numel) const override { return inner_.priced_bytes(numel); }
  CodecLaunches launches() const override { return inner_.launches(); }
  void encode(const Tensor& wire, const Tensor& x) override;
  void decode(const Tensor& x, const Tensor& wire) override { inner_.decode(x, wire); }

 private:
  Device& device_;
  Codec& inner_;
  Tensor residual_;
};

/// The residuals of one tensor that is averaged by `c_lp_s` again and again: of the rank's own
/// code, and of the code of the part whose mean it forms.
struct Feedback {
  Tensor worker, server;
  /// Zero, for `x` over the ranks of ctx.comm.
  Feedback(Context ctx, const Tensor& x);
};

}  // namespace trigram
