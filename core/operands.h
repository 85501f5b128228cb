#pragma once

#include <cstdint>

#include "core/check.h"
#include "core/tensor.h"

/// Checks that devices make on their operands; each throws InvariantError.
namespace trigram {

inline void require_values(const Tensor& x) {
  TRIGRAM_CHECK(!x.is_phantom(), "a phantom of {} elements has no values to work on", x.numel());
}

/// The values of an operand, which must be f32.
inline float* floats(const Tensor& x) {
  require_values(x);
  TRIGRAM_CHECK(x.dtype() == DType::f32, "this operation works on f32 only");
  return reinterpret_cast<float*>(x.data());
}

inline void require_equal_length(const Tensor& a, const Tensor& b) {
  TRIGRAM_CHECK(a.numel() == b.numel(), "operands of {} and {} elements", a.numel(), b.numel());
}

inline void require_bytes(const Tensor& x, std::size_t bytes) {
  TRIGRAM_CHECK(x.nbytes() == bytes, "{} bytes for a tensor of {}", bytes, x.nbytes());
}

/// The values of an f32 operand. Throws InvariantError unless it has values, and at least `numel`
/// of them.
inline float* operand(const Tensor& x, std::size_t numel) {
  TRIGRAM_CHECK(!x.is_phantom() && x.dtype() == DType::f32 && x.numel() >= numel,
                "an operation on {} f32 values met a{} tensor of {}", numel,
                x.is_phantom() ? " phantom" : "", x.numel());
  return reinterpret_cast<float*>(x.data());
}

/// The values of a u8 operand, under the same condition.
inline const std::uint8_t* byte_operand(const Tensor& x, std::size_t numel) {
  TRIGRAM_CHECK(!x.is_phantom() && x.dtype() == DType::u8 && x.numel() >= numel,
                "an operation on {} u8 values met a{} tensor of {}", numel,
                x.is_phantom() ? " phantom" : "", x.numel());
  return reinterpret_cast<const std::uint8_t*>(x.data());
}

}  // namespace trigram
