#include "algorithms/collectives/reduction.h"

#include "core/device/timed_device.h"

namespace trigram {

void accumulate(Context ctx, Reduce op, const Tensor& x, const Tensor& y) {
  if (op == Reduce::max) ctx.device->maximum(x, y);
  else ctx.device->axpby(1, x, 1, y);
}

void finish_reduction(Context ctx, Reduce op, const Tensor& x) {
  if (op == Reduce::avg) ctx.device->axpby(1.0f / static_cast<float>(ctx.size()), x, 0, x);
}

Cost accumulation_cost(Reduce op, const Tensor& y) {
  return op == Reduce::max ? maximum_cost(y) : axpby_cost(1, y);
}

Cost finish_cost(Reduce op, const Tensor& x) {
  return op == Reduce::avg ? axpby_cost(0, x) : Cost{};
}

}  // namespace trigram
