#include "core/codecs/fp8_math.h"
#include "core/codecs/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/fp8_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "core/codecs/convert_all-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::fp8::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using convert_all::HWY_NAMESPACE::ConvertAll;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U8 = hn::Rebind<std::uint8_t, F32>;

HWY_INLINE hn::Vec<I32> Lanes(std::uint32_t value) {
  return hn::Set(I32(), static_cast<std::int32_t>(value));
}

// The same as Float8::code and Float8::value, with selections instead of branches. All numbers are
// below 2^31, so that signed comparisons are right.
template <class Float>
struct ToFloat8 {
  float inverse;
  HWY_INLINE hn::Vec<U8> operator()(hn::Vec<F32> x) const {
    const I32 d;
    constexpr int kShift = static_cast<int>(Float::kShift);
    const auto bits = hn::BitCast(d, hn::Mul(x, hn::Set(F32(), inverse)));
    const auto magnitude = hn::And(bits, Lanes(0x7FFFFFFF)), rounder = Lanes(Float::kRounder);
    const auto sum = hn::Add(hn::BitCast(F32(), magnitude), hn::BitCast(F32(), rounder));
    const auto small = hn::Sub(hn::BitCast(d, sum), rounder);
    const auto odd = hn::And(hn::ShiftRight<kShift>(magnitude), Lanes(1));
    const auto raised = hn::Add(magnitude, hn::Add(odd, Lanes((1u << (kShift - 1)) - 1)));
    const auto normal = hn::Sub(hn::ShiftRight<kShift>(raised), Lanes(Float::kRebias));
    const auto nearest =
        hn::IfThenElse(hn::Lt(magnitude, Lanes(Float::kSmallestNormal)), small, normal);
    const auto sign = hn::And(hn::ShiftRight<24>(bits), Lanes(0x80));
    return hn::DemoteTo(U8(), hn::Or(hn::Min(nearest, Lanes(Float::kMost)), sign));
  }
};

template <class Float>
struct FromFloat8 {
  float step;
  HWY_INLINE hn::Vec<F32> operator()(hn::Vec<U8> code) const {
    const I32 d;
    const auto wide = hn::PromoteTo(d, code), magnitude = hn::And(wide, Lanes(0x7F));
    const auto small = hn::Mul(hn::ConvertTo(F32(), magnitude), hn::Set(F32(), Float::kUnit));
    const auto normal =
        hn::ShiftLeft<static_cast<int>(Float::kShift)>(hn::Add(magnitude, Lanes(Float::kRebias)));
    const auto value = hn::IfThenElse(hn::Lt(magnitude, Lanes(Float::kFirstNormal)),
                                      hn::BitCast(d, small), normal);
    const auto sign = hn::ShiftLeft<24>(hn::And(wide, Lanes(0x80)));
    return hn::Mul(hn::BitCast(F32(), hn::Or(value, sign)), hn::Set(F32(), step));
  }
};

void EncodeE4M3(const float* x, std::size_t n, float inverse, std::uint8_t* codes) {
  ConvertAll<U8, F32>(x, n, codes, ToFloat8<E4M3>{inverse});
}
void DecodeE4M3(const std::uint8_t* codes, std::size_t n, float step, float* x) {
  ConvertAll<F32, U8>(codes, n, x, FromFloat8<E4M3>{step});
}
void EncodeE5M2(const float* x, std::size_t n, float inverse, std::uint8_t* codes) {
  ConvertAll<U8, F32>(x, n, codes, ToFloat8<E5M2>{inverse});
}
void DecodeE5M2(const std::uint8_t* codes, std::size_t n, float step, float* x) {
  ConvertAll<F32, U8>(codes, n, x, FromFloat8<E5M2>{step});
}

}  // namespace trigram::fp8::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::fp8 {

HWY_EXPORT(EncodeE4M3);
HWY_EXPORT(DecodeE4M3);
HWY_EXPORT(EncodeE5M2);
HWY_EXPORT(DecodeE5M2);

void encode_e4m3(const float* x, std::size_t n, float inverse, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(EncodeE4M3)(x, n, inverse, codes);
}
void decode_e4m3(const std::uint8_t* codes, std::size_t n, float step, float* x) {
  HWY_DYNAMIC_DISPATCH(DecodeE4M3)(codes, n, step, x);
}
void encode_e5m2(const float* x, std::size_t n, float inverse, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(EncodeE5M2)(x, n, inverse, codes);
}
void decode_e5m2(const std::uint8_t* codes, std::size_t n, float step, float* x) {
  HWY_DYNAMIC_DISPATCH(DecodeE5M2)(codes, n, step, x);
}

}  // namespace trigram::fp8
#endif
