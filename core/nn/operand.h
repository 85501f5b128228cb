#pragma once

#include "core/check.h"
#include "core/tensor.h"

namespace trigram {

/// The values of an operand of which an operation uses `numel` elements, checked.
inline float* operand(const Tensor& x, std::size_t numel) {
  TRIGRAM_CHECK(!x.is_phantom() && x.dtype() == DType::f32 && x.numel() >= numel,
                "an operation on {} f32 values met a{} tensor of {}", numel,
                x.is_phantom() ? " phantom" : "", x.numel());
  return reinterpret_cast<float*>(x.data());
}

}  // namespace trigram
