#pragma once

#include "core/codec.h"

namespace trigram {

/// Throws InvariantError unless `wire` (u8) and `x` (f32) have values and `wire` has the length
/// that `codec` needs for x.
void check_wire(const Codec& codec, const Tensor& wire, const Tensor& x);

}  // namespace trigram
