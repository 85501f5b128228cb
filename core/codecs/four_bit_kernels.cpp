#include "core/codecs/kernels.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/four_bit_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "core/codecs/convert_all-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::four_bit::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using convert_all::HWY_NAMESPACE::ConvertAll;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U8 = hn::Rebind<std::uint8_t, F32>;
using U16 = hn::ScalableTag<std::uint16_t>;
using Half = hn::Rebind<std::uint8_t, U16>;

// Elements whose codes are unpacked at a time.
constexpr std::size_t kPiece = 512;

// The same as Exponents::code and Exponents::value, with selections instead of branches. All
// numbers are below 2^31, so that signed comparisons are right.
struct ToExponents {
  std::int32_t top;
  HWY_INLINE hn::Vec<U8> operator()(hn::Vec<F32> x) const {
    const I32 d;
    const auto bits = hn::BitCast(d, x), magnitude = hn::And(bits, hn::Set(d, 0x7FFFFFFF));
    const auto shift = hn::Set(d, 7 - top);
    const auto rounded = hn::ShiftRight<23>(hn::Add(magnitude, hn::Set(d, 0x400000)));
    const auto nearest = hn::Max(hn::Min(hn::Add(rounded, shift), hn::Set(d, 7)), hn::Set(d, 1));
    const auto sign = hn::And(hn::ShiftRight<28>(bits), hn::Set(d, 8));
    const auto is_zero = hn::Lt(hn::Add(hn::ShiftRight<23>(magnitude), shift), hn::Zero(d));
    return hn::DemoteTo(U8(), hn::IfThenZeroElse(is_zero, hn::Or(nearest, sign)));
  }
};

struct FromExponents {
  std::int32_t top;
  HWY_INLINE hn::Vec<F32> operator()(hn::Vec<U8> code) const {
    const I32 d;
    const auto wide = hn::PromoteTo(d, code), exponent = hn::And(wide, hn::Set(d, 7));
    const auto power = hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(d, top - 7)));
    const auto sign = hn::ShiftLeft<28>(hn::And(wide, hn::Set(d, 8)));
    const auto is_zero = hn::Eq(exponent, hn::Zero(d));
    return hn::BitCast(F32(), hn::IfThenZeroElse(is_zero, hn::Or(sign, power)));
  }
};

struct ToIntegers {
  float inverse;
  HWY_INLINE hn::Vec<U8> operator()(hn::Vec<F32> x) const {
    const auto q = hn::NearestInt(hn::Mul(x, hn::Set(F32(), inverse)));
    return hn::DemoteTo(U8(), hn::And(q, hn::Set(I32(), 15)));
  }
};

struct FromIntegers {
  float step;
  HWY_INLINE hn::Vec<F32> operator()(hn::Vec<U8> code) const {
    const I32 d;
    const auto flipped = hn::Xor(hn::PromoteTo(d, code), hn::Set(d, 8));
    const auto q = hn::ConvertTo(F32(), hn::Sub(flipped, hn::Set(d, 8)));
    return hn::Mul(q, hn::Set(F32(), step));
  }
};

// Two codes, in the two bytes of a number, and one byte.
struct Pack {
  HWY_INLINE hn::Vec<Half> operator()(hn::Vec<U16> pair) const {
    const auto both = hn::Or(pair, hn::ShiftRight<4>(pair));
    return hn::TruncateTo(Half(), both);
  }
};
struct Unpack {
  HWY_INLINE hn::Vec<U16> operator()(hn::Vec<Half> packed) const {
    const U16 d;
    const auto wide = hn::PromoteTo(d, packed);
    return hn::Or(hn::And(wide, hn::Set(d, 0x000F)),
                  hn::ShiftLeft<4>(hn::And(wide, hn::Set(d, 0x00F0))));
  }
};

template <class Convert>
HWY_INLINE void EncodeAll(const float* x, std::size_t n, std::uint8_t* packed,
                          const Convert& convert) {
  std::uint16_t pairs[kPiece / 2];
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = std::min(kPiece, n - begin), bytes = (count + 1) / 2;
    pairs[bytes - 1] = 0;
    ConvertAll<U8, F32>(x + begin, count, reinterpret_cast<std::uint8_t*>(pairs), convert);
    ConvertAll<Half, U16>(pairs, bytes, packed + begin / 2, Pack());
  }
}

template <class Convert>
HWY_INLINE void DecodeAll(const std::uint8_t* packed, std::size_t n, float* x,
                          const Convert& convert) {
  std::uint16_t pairs[kPiece / 2];
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = std::min(kPiece, n - begin);
    ConvertAll<U16, Half>(packed + begin / 2, (count + 1) / 2, pairs, Unpack());
    ConvertAll<F32, U8>(reinterpret_cast<const std::uint8_t*>(pairs), count, x + begin, convert);
  }
}

void EncodeExponents(const float* x, std::size_t n, std::int32_t top, std::uint8_t* packed) {
  EncodeAll(x, n, packed, ToExponents{top});
}
void DecodeExponents(const std::uint8_t* packed, std::size_t n, std::int32_t top, float* x) {
  DecodeAll(packed, n, x, FromExponents{top});
}
void EncodeIntegers(const float* x, std::size_t n, float inverse, std::uint8_t* packed) {
  EncodeAll(x, n, packed, ToIntegers{inverse});
}
void DecodeIntegers(const std::uint8_t* packed, std::size_t n, float step, float* x) {
  DecodeAll(packed, n, x, FromIntegers{step});
}

}  // namespace trigram::four_bit::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::four_bit {

HWY_EXPORT(EncodeExponents);
HWY_EXPORT(DecodeExponents);
HWY_EXPORT(EncodeIntegers);
HWY_EXPORT(DecodeIntegers);

void encode(const float* x, std::size_t n, const Exponents& exponents, std::uint8_t* packed) {
  if (exponents.special() != Special::none) std::fill_n(packed, (n + 1) / 2, std::uint8_t{0});
  else
    HWY_DYNAMIC_DISPATCH(EncodeExponents)(x, n, static_cast<std::int32_t>(exponents.top), packed);
}
void decode(const std::uint8_t* packed, std::size_t n, const Exponents& exponents, float* x) {
  if (exponents.special() == Special::nan)
    std::fill_n(x, n, std::numeric_limits<float>::quiet_NaN());
  else
    HWY_DYNAMIC_DISPATCH(DecodeExponents)(packed, n, static_cast<std::int32_t>(exponents.top), x);
}
void encode_integers(const float* x, std::size_t n, float inverse, std::uint8_t* packed) {
  HWY_DYNAMIC_DISPATCH(EncodeIntegers)(x, n, inverse, packed);
}
void decode_integers(const std::uint8_t* packed, std::size_t n, float step, float* x) {
  HWY_DYNAMIC_DISPATCH(DecodeIntegers)(packed, n, step, x);
}

}  // namespace trigram::four_bit
#endif
