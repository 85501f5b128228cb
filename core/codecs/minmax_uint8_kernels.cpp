#include "core/codecs/minmax_uint8_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/minmax_uint8_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::minmax_uint8::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using U8 = hn::Rebind<std::uint8_t, F32>;

Range FindRange(const float* x, std::size_t n) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  auto lo0 = hn::Set(d, x[0]), hi0 = lo0, sum0 = hn::Zero(d);
  auto lo1 = lo0, hi1 = lo0, sum1 = sum0;
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto v0 = hn::LoadU(d, x + i), v1 = hn::LoadU(d, x + i + lanes);
    lo0 = hn::Min(lo0, v0);
    hi0 = hn::Max(hi0, v0);
    sum0 = hn::Add(sum0, v0);
    lo1 = hn::Min(lo1, v1);
    hi1 = hn::Max(hi1, v1);
    sum1 = hn::Add(sum1, v1);
  }
  Range range;
  range.min = hn::GetLane(hn::MinOfLanes(d, hn::Min(lo0, lo1)));
  range.max = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hi0, hi1)));
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; i < n; ++i) {
    range.min = std::min(range.min, x[i]);
    range.max = std::max(range.max, x[i]);
    sum += x[i];
  }
  // -0 + 0 = +0: which of two zeros is the minimum depends on the order.
  range.min += 0.0f;
  range.max += 0.0f;
  // A finite sum has finite terms; another one may have overflowed, and the terms must be looked
  // at.
  const auto is_finite = [](float v) { return v - v == 0; };
  range.finite = is_finite(sum) || std::all_of(x, x + n, is_finite);
  return range;
}

// The code of each lane of `v`, in 0 .. 255. Where all grid points are integers that fit a
// mantissa, integer arithmetic gives what f32 would, and the bounds are left to the saturating
// narrowing: as rounding is monotonic, no x within the range exceeds `upper`.
template <bool kIntegral>
HWY_INLINE hn::Vec<I32> Code(const Grid& grid, hn::Vec<F32> v) {
  const F32 d;
  const I32 di;
  const auto scaled = hn::Mul(v, hn::Set(d, grid.scale));
  if constexpr (kIntegral) {
    return hn::Sub(hn::NearestInt(scaled), hn::Set(di, static_cast<std::int32_t>(grid.lower)));
  }
  const auto point = hn::Min(hn::Round(scaled), hn::Set(d, grid.upper));
  const auto code = hn::Sub(point, hn::Set(d, grid.lower));
  return hn::ConvertTo(di, hn::Min(hn::Max(code, hn::Zero(d)), hn::Set(d, 255.0f)));
}

template <bool kIntegral>
void QuantizeOn(const float* x, std::size_t n, const Grid& grid, std::uint8_t* codes) {
  const F32 d;
  const U8 du8;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::DemoteTo(du8, Code<kIntegral>(grid, hn::LoadU(d, x + i))), du8, codes + i);
  }
  if (i == n) return;
  HWY_ALIGN float rest[hn::MaxLanes(F32())] = {};
  HWY_ALIGN std::uint8_t rest_codes[hn::MaxLanes(F32())];
  std::copy(x + i, x + n, rest);
  hn::StoreU(hn::DemoteTo(du8, Code<kIntegral>(grid, hn::Load(d, rest))), du8, rest_codes);
  std::copy_n(rest_codes, n - i, codes + i);
}

void Quantize(const float* x, std::size_t n, const Grid& grid, std::uint8_t* codes) {
  constexpr float kIntegral = 0x1p22f;
  if (grid.upper <= kIntegral && grid.lower >= -kIntegral) QuantizeOn<true>(x, n, grid, codes);
  else QuantizeOn<false>(x, n, grid, codes);
}

void Dequantize(const std::uint8_t* codes, std::size_t n, const Grid& grid, float* x) {
  const F32 d;
  const I32 di;
  const U8 du8;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, grid.scale), lower = hn::Set(d, grid.lower);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto code = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(du8, codes + i)));
    hn::StoreU(hn::Div(hn::Add(code, lower), scale), d, x + i);
  }
  for (; i < n; ++i) x[i] = (static_cast<float>(codes[i]) + grid.lower) / grid.scale;
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
