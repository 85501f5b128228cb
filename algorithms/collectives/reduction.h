#pragma once

#include "core/context.h"

namespace trigram {

/// y = y op x. For avg this only sums, and `finish_reduction` scales.
inline void accumulate(Context ctx, Reduce op, const Tensor& x, const Tensor& y) {
  if (op == Reduce::max) ctx.device->maximum(x, y);
  else ctx.device->axpby(1, x, 1, y);
}

/// If op is avg, divides the finished sum by the number of ranks.
inline void finish_reduction(Context ctx, Reduce op, const Tensor& x) {
  if (op == Reduce::avg) ctx.device->axpby(1.0f / static_cast<float>(ctx.size()), x, 0, x);
}

}  // namespace trigram
