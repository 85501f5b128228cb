#pragma once

#include "core/context.h"
#include "core/training_state.h"

namespace trigram {

/// Error feedback (Seide et al., Interspeech 2014; Karimireddy et al., arXiv 1901.09847) around any
/// codec: the loss of each encoded vector is added to the next vector.
///
///   encode:  v = x + e;  wire = C(v);  e = v - D(wire)
///
/// So the sum of all decoded vectors, plus e, is the sum of all encoded vectors.
class ErrorFeedback final : public Codec {
 public:
  /// `residual` is e. It is as long as the vectors to encode and zero at first, and the caller owns
  /// it.
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

/// The residuals of a tensor that `c_lp_s` averages repeatedly: `worker` for the rank's own code,
/// `server` for the code of the mean that the rank computes as the owner of a part.
struct Feedback {
  Tensor worker, server;
  /// Residuals of zero for `x`, if it is averaged over the ranks of ctx.comm.
  Feedback(Context ctx, const Tensor& x);
  /// The same for a rank whose part is not `x.part(rank, size)` but as long as `own`.
  Feedback(Context ctx, const Tensor& x, const Tensor& own)
      : Feedback(ctx, x, own, TrainingState()) {}
  /// The residuals that `state` keeps.
  Feedback(Context ctx, const Tensor& x, const TrainingState& state);
  Feedback(Context ctx, const Tensor& x, const Tensor& own, const TrainingState& state)
      : worker(state.zeros_like(ctx, "worker", x)), server(state.zeros_like(ctx, "server", own)) {}
};

inline void ErrorFeedback::encode(const Tensor& wire, const Tensor& x) {
  inner_.encode_each_with_feedback(device_, {&wire, 1}, {&x, 1}, {&residual_, 1});
}

inline Feedback::Feedback(Context ctx, const Tensor& x) : Feedback(ctx, x, TrainingState()) {}

inline Feedback::Feedback(Context ctx, const Tensor& x, const TrainingState& state)
    : Feedback(ctx, x,
               x.part(static_cast<std::size_t>(ctx.rank()), static_cast<std::size_t>(ctx.size())),
               state) {}

}  // namespace trigram
