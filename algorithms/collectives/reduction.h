#pragma once

#include "core/context.h"

namespace trigram {

/// y = y op x. For avg this only sums, and `finish_reduction` scales.
void accumulate(Context ctx, Reduce op, const Tensor& x, const Tensor& y);

/// If op is avg, divides the finished sum by the number of ranks.
void finish_reduction(Context ctx, Reduce op, const Tensor& x);

}  // namespace trigram
