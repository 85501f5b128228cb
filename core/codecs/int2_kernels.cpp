#include <algorithm>

#include "core/codecs/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/int2_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "core/codecs/convert_all-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::int2::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using convert_all::HWY_NAMESPACE::ConvertAll;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U8 = hn::Rebind<std::uint8_t, F32>;

// Elements whose codes are unpacked at a time.
constexpr std::size_t kPiece = 512;

struct ToIntegers {
  float inverse;
  HWY_INLINE hn::Vec<U8> operator()(hn::Vec<F32> x) const {
    const I32 d;
    const auto q = hn::NearestInt(hn::Mul(x, hn::Set(F32(), inverse)));
    const auto bounded = hn::Max(hn::Min(q, hn::Set(d, 1)), hn::Set(d, -2));
    return hn::DemoteTo(U8(), hn::And(bounded, hn::Set(d, 3)));
  }
};

struct FromIntegers {
  float step;
  HWY_INLINE hn::Vec<F32> operator()(hn::Vec<U8> code) const {
    const I32 d;
    const auto flipped = hn::Xor(hn::PromoteTo(d, code), hn::Set(d, 2));
    const auto q = hn::ConvertTo(F32(), hn::Sub(flipped, hn::Set(d, 2)));
    return hn::Mul(q, hn::Set(F32(), step));
  }
};

// Four codes, in the four bytes of a number, and one byte.
struct Pack {
  HWY_INLINE hn::Vec<U8> operator()(hn::Vec<I32> four) const {
    const I32 d;
    const auto low = hn::Or(four, hn::ShiftRight<6>(four));
    const auto all = hn::Or(low, hn::ShiftRight<12>(low));
    return hn::DemoteTo(U8(), hn::And(all, hn::Set(d, 255)));
  }
};
struct Unpack {
  HWY_INLINE hn::Vec<I32> operator()(hn::Vec<U8> packed) const {
    const I32 d;
    const auto wide = hn::PromoteTo(d, packed);
    const auto halves = hn::Or(wide, hn::ShiftLeft<12>(wide));
    return hn::And(hn::Or(halves, hn::ShiftLeft<6>(halves)), hn::Set(d, 0x03030303));
  }
};

void Encode(const float* x, std::size_t n, float inverse, std::uint8_t* packed) {
  std::int32_t fours[kPiece / 4];
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = std::min(kPiece, n - begin), bytes = (count + 3) / 4;
    fours[bytes - 1] = 0;
    ConvertAll<U8, F32>(x + begin, count, reinterpret_cast<std::uint8_t*>(fours),
                        ToIntegers{inverse});
    ConvertAll<U8, I32>(fours, bytes, packed + begin / 4, Pack());
  }
}

void Decode(const std::uint8_t* packed, std::size_t n, float step, float* x) {
  std::int32_t fours[kPiece / 4];
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = std::min(kPiece, n - begin);
    ConvertAll<I32, U8>(packed + begin / 4, (count + 3) / 4, fours, Unpack());
    ConvertAll<F32, U8>(reinterpret_cast<const std::uint8_t*>(fours), count, x + begin,
                        FromIntegers{step});
  }
}

}  // namespace trigram::int2::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::int2 {

HWY_EXPORT(Encode);
HWY_EXPORT(Decode);

void encode(const float* x, std::size_t n, float inverse, std::uint8_t* packed) {
  HWY_DYNAMIC_DISPATCH(Encode)(x, n, inverse, packed);
}
void decode(const std::uint8_t* packed, std::size_t n, float step, float* x) {
  HWY_DYNAMIC_DISPATCH(Decode)(packed, n, step, x);
}

}  // namespace trigram::int2
#endif
