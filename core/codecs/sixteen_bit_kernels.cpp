#include "core/codecs/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/sixteen_bit_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "core/codecs/convert_all-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::sixteen_bit::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using convert_all::HWY_NAMESPACE::ConvertAll;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using U16 = hn::Rebind<std::uint16_t, F32>;
using F16 = hn::Rebind<hwy::float16_t, F32>;

// True if the processor converts as IEEE 754 specifies, including NaN. On other targets Highway's
// emulation does not keep NaN.
constexpr bool kConvertsF16 = (HWY_TARGET & (HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)) != 0;

HWY_INLINE hn::Vec<U32> Bits(std::uint32_t bits) { return hn::Set(U32(), bits); }

// The low 16 bits of each lane; the high bits must be zero.
HWY_INLINE hn::Vec<U16> Narrow(hn::Vec<U32> v) {
  return hn::DemoteTo(U16(), hn::BitCast(I32(), v));
}

HWY_INLINE hn::Mask<U32> IsNaN(hn::Vec<U32> magnitude) {
  return hn::RebindMask(U32(), hn::Gt(hn::BitCast(I32(), magnitude), hn::Set(I32(), 0x7F800000)));
}

// Each conversion is the same as in core/element_types.h, with selections instead of
// branches.

struct ToBF16 {
  HWY_INLINE hn::Vec<U16> operator()(hn::Vec<F32> x) const {
    const auto bits = hn::BitCast(U32(), x), high = hn::ShiftRight<16>(bits);
    const auto even = hn::Add(hn::And(high, Bits(1)), Bits(0x7FFF));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, even));
    const auto nan = hn::Or(high, Bits(0x40));
    return Narrow(hn::IfThenElse(IsNaN(hn::And(bits, Bits(0x7FFFFFFF))), nan, rounded));
  }
};

struct FromBF16 {
  HWY_INLINE hn::Vec<F32> operator()(hn::Vec<U16> code) const {
    return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), code)));
  }
};

struct ToF16 {
  template <class V>
  HWY_INLINE hn::Vec<U16> operator()(V x) const {
    if constexpr (kConvertsF16) return hn::BitCast(U16(), hn::DemoteTo(F16(), x));
    const auto bits = hn::BitCast(U32(), x);
    const auto sign = hn::And(hn::ShiftRight<16>(bits), Bits(0x8000));
    const auto any = hn::And(bits, Bits(0x7FFFFFFF));
    // Clamps to 65520, which rounds to infinity like everything above it.
    const auto magnitude = hn::Min(any, Bits(0x477FF000));
    const auto even = hn::And(hn::ShiftRight<13>(magnitude), Bits(1));
    const auto rebias = Bits(0xFFF - ((127u - 15u) << 23));
    const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(even, rebias)));
    const auto sum = hn::Add(hn::BitCast(F32(), magnitude), hn::Set(F32(), 0.5f));
    const auto tiny = hn::Sub(hn::BitCast(U32(), sum), Bits(0x3F000000));
    const auto nan = hn::Or(hn::And(hn::ShiftRight<13>(any), Bits(0x3FF)), Bits(0x7E00));
    const auto is_tiny = hn::Lt(hn::BitCast(I32(), magnitude), hn::Set(I32(), 0x38800000));
    const auto finite = hn::IfThenElse(hn::RebindMask(U32(), is_tiny), tiny, normal);
    return Narrow(hn::Or(sign, hn::IfThenElse(IsNaN(any), nan, finite)));
  }
};

struct FromF16 {
  template <class V>
  HWY_INLINE hn::Vec<F32> operator()(V code) const {
    if constexpr (kConvertsF16) return hn::PromoteTo(F32(), hn::BitCast(F16(), code));
    const auto wide = hn::PromoteTo(U32(), code);
    const auto sign = hn::ShiftLeft<16>(hn::And(wide, Bits(0x8000)));
    const auto magnitude = hn::And(wide, Bits(0x7FFF));
    const auto mantissa = hn::ShiftLeft<13>(magnitude);
    const auto normal = hn::Add(mantissa, Bits((127u - 15u) << 23));
    const auto infinity = hn::Or(mantissa, Bits(0x7F800000));
    const auto quiet = hn::Or(infinity, Bits(0x00400000));
    const auto integer = hn::ConvertTo(F32(), hn::BitCast(I32(), magnitude));
    const auto tiny = hn::BitCast(U32(), hn::Mul(integer, hn::Set(F32(), 0x1p-24f)));
    const auto signed_magnitude = hn::BitCast(I32(), magnitude);
    const auto at_least = [&](std::int32_t bound) HWY_ATTR {
      return hn::RebindMask(U32(), hn::Gt(signed_magnitude, hn::Set(I32(), bound - 1)));
    };
    auto result = hn::IfThenElse(at_least(0x0400), normal, tiny);
    result = hn::IfThenElse(at_least(0x7C00), infinity, result);
    result = hn::IfThenElse(at_least(0x7C01), quiet, result);
    return hn::BitCast(F32(), hn::Or(sign, result));
  }
};

void F16FromF32(const float* x, std::size_t n, std::uint16_t* codes) {
  ConvertAll<U16, F32>(x, n, codes, ToF16());
}
void F32FromF16(const std::uint16_t* codes, std::size_t n, float* x) {
  ConvertAll<F32, U16>(codes, n, x, FromF16());
}
void BF16FromF32(const float* x, std::size_t n, std::uint16_t* codes) {
  ConvertAll<U16, F32>(x, n, codes, ToBF16());
}
void F32FromBF16(const std::uint16_t* codes, std::size_t n, float* x) {
  ConvertAll<F32, U16>(codes, n, x, FromBF16());
}

}  // namespace trigram::sixteen_bit::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::sixteen_bit {

HWY_EXPORT(F16FromF32);
HWY_EXPORT(F32FromF16);
HWY_EXPORT(BF16FromF32);
HWY_EXPORT(F32FromBF16);

void f16_from_f32(const float* x, std::size_t n, std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(F16FromF32)(x, n, codes);
}
void f32_from_f16(const std::uint16_t* codes, std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(F32FromF16)(codes, n, x);
}
void bf16_from_f32(const float* x, std::size_t n, std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(BF16FromF32)(x, n, codes);
}
void f32_from_bf16(const std::uint16_t* codes, std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(F32FromBF16)(codes, n, x);
}

}  // namespace trigram::sixteen_bit
#endif
