#include "core/codecs/kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/minmax_uint8_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "core/codecs/convert_all-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::minmax_uint8::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using convert_all::HWY_NAMESPACE::ConvertAll;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using U8 = hn::Rebind<std::uint8_t, F32>;

// One of several independent reductions. None has to wait for the latency of another.
struct Partial {
  hn::Vec<F32> lo, hi, sum;
  HWY_INLINE void Add(hn::Vec<F32> v) {
    lo = hn::Min(lo, v);
    hi = hn::Max(hi, v);
    sum = hn::Add(sum, v);
  }
  HWY_INLINE void Merge(const Partial& other) {
    lo = hn::Min(lo, other.lo);
    hi = hn::Max(hi, other.hi);
    sum = hn::Add(sum, other.sum);
  }
};

Range FindRange(const float* x, std::size_t n) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto first = hn::Set(d, x[0]);
  Partial p0{first, first, hn::Zero(d)}, p1 = p0, p2 = p0, p3 = p0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    p0.Add(hn::LoadU(d, x + i));
    p1.Add(hn::LoadU(d, x + i + lanes));
    p2.Add(hn::LoadU(d, x + i + 2 * lanes));
    p3.Add(hn::LoadU(d, x + i + 3 * lanes));
  }
  p0.Merge(p1);
  p2.Merge(p3);
  p0.Merge(p2);
  Range range;
  range.min = hn::GetLane(hn::MinOfLanes(d, p0.lo));
  range.max = hn::GetLane(hn::MaxOfLanes(d, p0.hi));
  float sum = hn::GetLane(hn::SumOfLanes(d, p0.sum));
  for (; i < n; ++i) {
    range.min = std::min(range.min, x[i]);
    range.max = std::max(range.max, x[i]);
    sum += x[i];
  }
  // -0 + 0 = +0; without this the sign of a zero minimum would depend on the order.
  range.min += 0.0f;
  range.max += 0.0f;
  // If the sum is finite, all terms are. Otherwise the sum may just have overflowed, so check each
  // term.
  const auto is_finite = [](float v) { return v - v == 0; };
  range.finite = is_finite(sum) || std::all_of(x, x + n, is_finite);
  return range;
}

// The codes of one vector. If `kExact` is true (see Grid::exact), adding 1.5 * 2^23 rounds to an
// integer, which then appears in the low bits of the sum: floats of that size are integers.
template <bool kExact>
HWY_INLINE hn::Vec<U32> Code(const Grid& grid, hn::Vec<F32> x) {
  const F32 d;
  const auto scaled = hn::Mul(x, hn::Set(d, grid.scale));
  if constexpr (kExact) {
    constexpr float kIntegers = 12582912;
    constexpr std::int32_t kIntegersBits = 0x4B400000;
    const auto bits = hn::BitCast(U32(), hn::Add(scaled, hn::Set(d, kIntegers)));
    const auto zero = kIntegersBits + static_cast<std::int32_t>(grid.lower);
    return hn::Sub(bits, hn::Set(U32(), static_cast<std::uint32_t>(zero)));
  }
  const auto point = hn::Min(hn::Round(scaled), hn::Set(d, grid.upper));
  const auto code = hn::Sub(point, hn::Set(d, grid.lower));
  const auto clamped = hn::Min(hn::Max(code, hn::Zero(d)), hn::Set(d, 255.0f));
  return hn::BitCast(U32(), hn::ConvertTo(I32(), clamped));
}

template <bool kExact>
void QuantizeOn(const float* x, std::size_t n, const Grid& grid, std::uint8_t* codes) {
  ConvertAll<U8, F32>(
      x, n, codes, [&](hn::Vec<F32> v) HWY_ATTR { return hn::U8FromU32(Code<kExact>(grid, v)); });
}

void Quantize(const float* x, std::size_t n, const Grid& grid, std::uint8_t* codes) {
  if (grid.exact) QuantizeOn<true>(x, n, grid, codes);
  else QuantizeOn<false>(x, n, grid, codes);
}

void Dequantize(const std::uint8_t* codes, std::size_t n, const Grid& grid, float* x) {
  const F32 d;
  const auto scale = hn::Set(d, grid.scale), lower = hn::Set(d, grid.lower);
  ConvertAll<F32, U8>(codes, n, x, [&](hn::Vec<U8> v) HWY_ATTR {
    const auto code = hn::ConvertTo(d, hn::PromoteTo(I32(), v));
    return hn::Div(hn::Add(code, lower), scale);
  });
}

}  // namespace trigram::minmax_uint8::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::minmax_uint8 {

HWY_EXPORT(FindRange);
HWY_EXPORT(Quantize);
HWY_EXPORT(Dequantize);

Range find_range(const float* x, std::size_t n) { return HWY_DYNAMIC_DISPATCH(FindRange)(x, n); }

void quantize(const float* x, std::size_t n, const Grid& grid, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(Quantize)(x, n, grid, codes);
}

void dequantize(const std::uint8_t* codes, std::size_t n, const Grid& grid, float* x) {
  HWY_DYNAMIC_DISPATCH(Dequantize)(codes, n, grid, x);
}

}  // namespace trigram::minmax_uint8
#endif
