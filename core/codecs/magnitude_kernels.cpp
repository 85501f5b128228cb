#include "core/codecs/kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/magnitude_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::magnitudes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, 16>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
constexpr std::size_t kLanes = hn::MaxLanes(F32());

HWY_INLINE hn::Vec<I32> Magnitude(const float* x) {
  return hn::And(hn::BitCast(I32(), hn::LoadU(F32(), x)), hn::Set(I32(), 0x7FFFFFFF));
}

HWY_INLINE std::uint32_t MagnitudeOf(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits & 0x7FFFFFFF;
}

std::uint32_t Largest(const float* x, std::size_t n) {
  auto m0 = hn::Zero(I32()), m1 = m0, m2 = m0, m3 = m0;
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    m0 = hn::Max(m0, Magnitude(x + i));
    m1 = hn::Max(m1, Magnitude(x + i + kLanes));
    m2 = hn::Max(m2, Magnitude(x + i + 2 * kLanes));
    m3 = hn::Max(m3, Magnitude(x + i + 3 * kLanes));
  }
  const auto all = hn::Max(hn::Max(m0, m1), hn::Max(m2, m3));
  auto result = static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(I32(), all)));
  for (; i < n; ++i) result = std::max(result, MagnitudeOf(x[i]));
  return result;
}

// For 64 elements: bit i is set if the magnitude of x[i] is above `below`.
HWY_INLINE std::uint64_t AboveOf64(hn::Vec<I32> below, const float* x) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 64; i += kLanes) {
    std::uint8_t lanes[2] = {};
    hn::StoreMaskBits(I32(), hn::Gt(Magnitude(x + i), below), lanes);
    word |= (lanes[0] | std::uint64_t{lanes[1]} << 8) << i;
  }
  return word;
}

std::size_t AtLeast(std::uint32_t bound, const float* x, std::size_t n, std::uint32_t* indices) {
  const auto below = hn::Set(I32(), static_cast<std::int32_t>(bound) - 1);
  std::size_t count = 0, i = 0;
  for (; i + 64 <= n; i += 64) {
    for (std::uint64_t word = AboveOf64(below, x + i); word != 0; word &= word - 1) {
      indices[count++] = static_cast<std::uint32_t>(i + std::countr_zero(word));
    }
  }
  for (; i < n; ++i) {
    if (MagnitudeOf(x[i]) >= bound) indices[count++] = static_cast<std::uint32_t>(i);
  }
  return count;
}

}  // namespace trigram::magnitudes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::magnitudes {

HWY_EXPORT(Largest);
HWY_EXPORT(AtLeast);

std::uint32_t largest(const float* x, std::size_t n) { return HWY_DYNAMIC_DISPATCH(Largest)(x, n); }

std::size_t at_least(std::uint32_t bound, const float* x, std::size_t n, std::uint32_t* indices) {
  return HWY_DYNAMIC_DISPATCH(AtLeast)(bound, x, n, indices);
}

}  // namespace trigram::magnitudes
#endif
