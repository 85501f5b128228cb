#pragma once

#include <cstdint>

#include "core/device/float_bits.h"
#include "core/tensor.h"

/// How each element type is stored and converted to and from f32. The functions are constexpr so
/// that GPU kernels can call them too.
namespace trigram::element {

struct F32 {
  using Stored = float;
  static constexpr float load(Stored x) { return x; }
  static constexpr Stored store(float x) { return x; }
};
struct BF16 {
  using Stored = std::uint16_t;
  static constexpr float load(Stored x) { return f32_from_bf16(x); }
  static constexpr Stored store(float x) { return bf16_from_f32(x); }
};
struct F16 {
  using Stored = std::uint16_t;
  static constexpr float load(Stored x) { return f32_from_f16(x); }
  static constexpr Stored store(float x) { return f16_from_f32(x); }
};
struct U8 {
  using Stored = std::uint8_t;
  static constexpr float load(Stored x) { return x; }
  static constexpr Stored store(float x) { return u8_from_f32(x); }
};

/// Calls visit(F32{}), visit(BF16{}), ... for the given type.
template <class Visit>
void visit_type(DType type, const Visit& visit) {
  switch (type) {
    case DType::f32: return visit(F32{});
    case DType::bf16: return visit(BF16{});
    case DType::f16: return visit(F16{});
    case DType::u8: return visit(U8{});
  }
}

}  // namespace trigram::element
