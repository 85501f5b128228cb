#include "algorithms/primitives/error_feedback.h"

namespace trigram {

void ErrorFeedback::encode(const Tensor& wire, const Tensor& x) {
  inner_.encode_each_with_feedback(device_, {&wire, 1}, {&x, 1}, {&residual_, 1});
}

Feedback::Feedback(Context ctx, const Tensor& x)
    : worker(ctx.device->empty_like(x)),
      server(ctx.device->empty_like(
          x.part(static_cast<std::size_t>(ctx.rank()), static_cast<std::size_t>(ctx.size())))) {
  ctx.device->fill(worker, 0);
  ctx.device->fill(server, 0);
}

}  // namespace trigram
