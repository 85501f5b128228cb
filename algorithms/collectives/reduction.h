#pragma once

#include "core/context.h"

namespace trigram {

/// y = y op x, with avg summed here and scaled by `finish_reduction`.
void accumulate(Context ctx, Reduce op, const Tensor& x, const Tensor& y);

/// Divides a finished sum by the number of ranks when op is avg.
void finish_reduction(Context ctx, Reduce op, const Tensor& x);

}  // namespace trigram
