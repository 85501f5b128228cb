#include "core/codecs/kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/sign_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "core/codecs/fixed_sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::sign::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using fixed_sums::HWY_NAMESPACE::FixedSums;

// Elements per loop iteration: two bytes of bits.
constexpr std::size_t kGroup = FixedSums::kWidth;
using F32 = hn::CappedTag<float, kGroup>;
constexpr std::size_t kLanes = hn::MaxLanes(F32());

HWY_INLINE void PackGroup(const float* x, std::uint8_t* bits) {
  const F32 d;
  const auto negative = [&](std::size_t i)
                            HWY_ATTR { return hn::Lt(hn::LoadU(d, x + i), hn::Zero(d)); };
  if constexpr (kLanes >= 8) {  // writes whole bytes
    for (std::size_t i = 0; i < kGroup; i += kLanes) {
      hn::StoreMaskBits(d, negative(i), bits + i / 8);
    }
  } else {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < kGroup; i += kLanes) {
      std::uint8_t lanes = 0;
      hn::StoreMaskBits(d, negative(i), &lanes);
      group |= std::uint32_t{lanes} << i;
    }
    bits[0] = static_cast<std::uint8_t>(group);
    bits[1] = static_cast<std::uint8_t>(group >> 8);
  }
}

// Packs every group and passes it to `add`; the last group is padded with zeros.
template <class Add>
HWY_INLINE void PackAndAdd(const float* x, std::size_t n, std::uint8_t* bits, const Add& add) {
  std::size_t i = 0;
  for (; i + kGroup <= n; i += kGroup) {
    PackGroup(x + i, bits + i / 8);
    add(x + i);
  }
  if (i == n) return;
  float rest[kGroup] = {};
  std::uint8_t rest_bits[2];
  std::copy(x + i, x + n, rest);
  PackGroup(rest, rest_bits);
  add(rest);
  std::copy_n(rest_bits, (n - i + 7) / 8, bits + i / 8);
}

template <void (FixedSums::*Add)(const float*)>
HWY_INLINE double PackAndSum(const float* x, std::size_t n, std::uint8_t* bits) {
  FixedSums sums;
  PackAndAdd(x, n, bits, [&](const float* group) HWY_ATTR { (sums.*Add)(group); });
  return sums.Total();
}

double PackAndSumSquares(const float* x, std::size_t n, std::uint8_t* bits) {
  return PackAndSum<&FixedSums::AddSquares>(x, n, bits);
}

double PackAndSumMagnitudes(const float* x, std::size_t n, std::uint8_t* bits) {
  return PackAndSum<&FixedSums::AddMagnitudes>(x, n, bits);
}

SumsBySign PackAndSumBySign(const float* x, std::size_t n, std::uint8_t* bits) {
  FixedSums positives, negatives;
  PackAndAdd(x, n, bits, [&](const float* group) HWY_ATTR {
    positives.AddPositives(group);
    negatives.AddNegatives(group);
  });
  return {positives.Total(), negatives.Total()};
}

HWY_INLINE void UnpackGroup(const std::uint8_t* bits, hn::Vec<F32> plus, hn::Vec<F32> minus,
                            float* x) {
  const F32 d;
  const std::uint32_t group = bits[0] | std::uint32_t{bits[1]} << 8;
  for (std::size_t i = 0; i < kGroup; i += kLanes) {
    std::uint8_t lanes[8] = {};  // Highway may read this many bytes
    const std::uint32_t rest = group >> i;
    lanes[0] = static_cast<std::uint8_t>(rest);
    lanes[1] = static_cast<std::uint8_t>(rest >> 8);
    hn::StoreU(hn::IfThenElse(hn::LoadMaskBits(d, lanes), minus, plus), d, x + i);
  }
}

void Unpack(const std::uint8_t* bits, std::size_t n, Levels levels, float* x) {
  const auto plus = hn::Set(F32(), levels.plus), minus = hn::Set(F32(), levels.minus);
  std::size_t i = 0;
  for (; i + kGroup <= n; i += kGroup) UnpackGroup(bits + i / 8, plus, minus, x + i);
  if (i == n) return;
  float rest[kGroup];
  std::uint8_t rest_bits[2] = {};
  std::copy_n(bits + i / 8, (n - i + 7) / 8, rest_bits);
  UnpackGroup(rest_bits, plus, minus, rest);
  std::copy_n(rest, n - i, x + i);
}

}  // namespace trigram::sign::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::sign {

HWY_EXPORT(PackAndSumSquares);
HWY_EXPORT(PackAndSumMagnitudes);
HWY_EXPORT(PackAndSumBySign);
HWY_EXPORT(Unpack);

double pack_and_sum_squares(const float* x, std::size_t n, std::uint8_t* bits) {
  return HWY_DYNAMIC_DISPATCH(PackAndSumSquares)(x, n, bits);
}
double pack_and_sum_magnitudes(const float* x, std::size_t n, std::uint8_t* bits) {
  return HWY_DYNAMIC_DISPATCH(PackAndSumMagnitudes)(x, n, bits);
}
SumsBySign pack_and_sum_by_sign(const float* x, std::size_t n, std::uint8_t* bits) {
  return HWY_DYNAMIC_DISPATCH(PackAndSumBySign)(x, n, bits);
}
void unpack(const std::uint8_t* bits, std::size_t n, Levels levels, float* x) {
  HWY_DYNAMIC_DISPATCH(Unpack)(bits, n, levels, x);
}

}  // namespace trigram::sign
#endif
