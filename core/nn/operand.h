#pragma once

#include "core/check.h"
#include "core/tensor.h"

namespace trigram {

/// The values of an f32 operand. Throws InvariantError unless it has values, and at least `numel`
/// of them.
inline float* operand(const Tensor& x, std::size_t numel) {
  TRIGRAM_CHECK(!x.is_phantom() && x.dtype() == DType::f32 && x.numel() >= numel,
                "an operation on {} f32 values met a{} tensor of {}", numel,
                x.is_phantom() ? " phantom" : "", x.numel());
  return reinterpret_cast<float*>(x.data());
}

}  // namespace trigram
