#include "algorithms/primitives/error_feedback.h"

namespace trigram {

void ErrorFeedback::encode(const Tensor& wire, const Tensor& x) {
  const Tensor sum = device_.empty_like(x);
  device_.copy(sum, x);
  device_.axpby(1, residual_, 1, sum);
  inner_.encode(wire, sum);
  inner_.decode(residual_, wire);
  device_.axpby(1, sum, -1, residual_);
}

Feedback::Feedback(Context ctx, const Tensor& x)
    : worker(ctx.device->empty_like(x)),
      server(ctx.device->empty_like(
          x.part(static_cast<std::size_t>(ctx.rank()), static_cast<std::size_t>(ctx.size())))) {
  ctx.device->fill(worker, 0);
  ctx.device->fill(server, 0);
}

}  // namespace trigram
