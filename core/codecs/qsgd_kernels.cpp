#include "core/codecs/qsgd_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codecs/qsgd_kernels.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target
//
#include "core/codecs/fixed_sums-inl.h"
#include "core/codecs/philox_lanes-inl.h"
#include "core/random/philox.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::qsgd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using fixed_sums::HWY_NAMESPACE::FixedSums;
using philox_lanes::HWY_NAMESPACE::Generator;
using philox_lanes::HWY_NAMESPACE::Words;

// Elements per loop iteration. An iteration uses eight blocks of random numbers. Element 16 k + 2 j
// + i, for k = 0 .. 3, j = 0 .. 7, i = 0, 1, gets 15 bits of word (k mod 2) + 2 i of block j: the
// lowest bits if k < 2, else the highest. A vector of elements thus gets its bits without a
// shuffle.
constexpr std::size_t kGroup = 64;

using F32 = hn::CappedTag<float, 16>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using U8 = hn::Rebind<std::uint8_t, F32>;
constexpr std::size_t kLanes = hn::MaxLanes(F32());

HWY_INLINE hn::Vec<U8> Code(const Rounding& to, const float* x, hn::Vec<U32> random15) {
  const F32 d;
  const auto scaled = hn::Mul(hn::LoadU(d, x), hn::Set(d, to.scale));
  // Floats near 1.5 * 2^23 are the integers, so the sum is rounded, ties to even, and the integer
  // appears in its low bits.
  constexpr float kIntegers = 12582912;
  constexpr std::uint32_t kIntegersBits = 0x4B400000;
  const auto bits = hn::BitCast(U32(), hn::Add(scaled, hn::Set(d, kIntegers)));
  const auto zero = hn::Set(U32(), static_cast<std::uint32_t>(to.limit) - kIntegersBits);
  return hn::U8FromU32(hn::ShiftRight<15>(hn::Add(bits, hn::Add(zero, random15))));
}

// Interleaves two vectors: even lanes get the words of `even`, odd lanes those of `odd`.
template <class D, class D64 = hn::Repartition<std::uint64_t, D>>
HWY_INLINE hn::Vec<D> Interleave(D d, hn::Vec<D> even, hn::Vec<D> odd) {
  const auto moved = hn::ShiftLeft<32>(hn::BitCast(D64(), odd));
  return hn::OddEven(hn::BitCast(d, moved), even);
}

// Encodes one vector in each of the four rows of 16 elements.
template <class D>
HWY_INLINE void CodeRows(const Words<D>& words, const Rounding& to, const float* x,
                         std::uint8_t* codes) {
  const D d;
  const auto low = hn::Set(d, 0x7FFFu);
  const auto w02 = Interleave(d, words.w0, words.w2), w13 = Interleave(d, words.w1, words.w3);
  hn::StoreU(Code(to, x, hn::And(w02, low)), U8(), codes);
  hn::StoreU(Code(to, x + 16, hn::And(w13, low)), U8(), codes + 16);
  hn::StoreU(Code(to, x + 32, hn::ShiftRight<17>(w02)), U8(), codes + 32);
  hn::StoreU(Code(to, x + 48, hn::ShiftRight<17>(w13)), U8(), codes + 48);
}

template <class D>
HWY_INLINE void CodeGroup(const Generator<D>& random, const Rounding& to, const float* x,
                          std::uint32_t first_block, std::uint8_t* codes) {
  Words<D> a, b;
  if constexpr (kLanes == 16) {  // `a` is enough; the compiler drops `b`
    random.Blocks(first_block, a, b);
    CodeRows(a, to, x, codes);
  } else {
    for (std::size_t j = 0; j < 8; j += kLanes) {
      random.Blocks(first_block + static_cast<std::uint32_t>(j), a, b);
      CodeRows(a, to, x + 2 * j, codes + 2 * j);
      CodeRows(b, to, x + 2 * j + kLanes, codes + 2 * j + kLanes);
    }
  }
}

// For targets whose vectors have a single lane, which cannot hold two words.
HWY_INLINE void CodeGroup(const Philox& random, const Rounding& to, const float* x,
                          std::uint32_t first_block, std::uint8_t* codes) {
  for (std::uint32_t j = 0; j < 8; ++j) {
    const auto words = random.block(first_block + j);
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < 2; ++i) {
        const std::uint32_t word = words[k % 2 + 2 * i];
        const std::size_t at = 16 * k + 2 * j + i;
        const auto bits = hn::Set(U32(), k < 2 ? word & 0x7FFF : word >> 17);
        HWY_ALIGN std::uint8_t lanes[kLanes];
        hn::StoreU(Code(to, x + at, bits), U8(), lanes);
        codes[at] = lanes[0];
      }
    }
  }
}

using Source = std::conditional_t<kLanes == 1, const Philox&, Generator<U32>>;

// Calls add(pointer to 16 floats) for all of x, padded with zeros.
template <class Add>
HWY_INLINE void EachSixteen(const float* x, std::size_t n, const Add& add) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) add(x + i);
  if (i == n) return;
  float rest[16] = {};
  std::copy(x + i, x + n, rest);
  add(rest);
}

HWY_INLINE double SumOfSquares(const float* x, std::size_t n) {
  FixedSums sums;
  EachSixteen(x, n, [&sums](const float* group) HWY_ATTR { sums.AddSquares(group); });
  return sums.Total();
}

HWY_INLINE float LargestMagnitude(const float* x, std::size_t n) {
  const F32 d;
  auto largest = hn::Zero(d);
  EachSixteen(x, n, [&largest](const float* group) HWY_ATTR {
    for (std::size_t i = 0; i < 16; i += kLanes) {
      largest = hn::Max(largest, hn::Abs(hn::LoadU(F32(), group + i)));
    }
  });
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

float Norm(const Format& format, const float* x, std::size_t n) {
  const double squares = SumOfSquares(x, n);
  const float result =
      format.max_norm ? LargestMagnitude(x, n) : static_cast<float>(std::sqrt(squares));
  const bool finite = std::isfinite(squares) && std::isfinite(result);
  return finite ? result : std::numeric_limits<float>::quiet_NaN();
}

void Encode(const Format& format, const float* x, std::size_t n, float norm, const Philox& random,
            std::uint32_t first_block, std::uint8_t* codes) {
  const std::size_t bytes = format.code_bytes(n);
  if (std::isnan(norm)) {
    std::memset(codes, 0, bytes);
    return;
  }
  const Rounding to(format.levels, norm);
  const Source source(random);
  std::uint8_t* const end = codes + bytes;
  for (std::size_t i = 0; i < n; i += kGroup, first_block += 8) {
    HWY_ALIGN float rest[kGroup];
    HWY_ALIGN std::uint8_t group[kGroup];
    const std::size_t here = std::min(n - i, kGroup);
    const float* from = x + i;
    if (here < kGroup) {
      std::fill_n(std::copy_n(x + i, here, rest), kGroup - here, 0.0f);
      from = rest;
    }
    if (format.bits == 8 && here == kGroup) {
      CodeGroup(source, to, from, first_block, codes);
      codes += kGroup;
      continue;
    }
    CodeGroup(source, to, from, first_block, group);
    std::fill(group + here, group + kGroup, std::uint8_t{0});
    for (std::size_t k = 0; k < here; k += 8, codes += format.bits) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, group + k, sizeof(eight));
      eight = pack_eight(eight, format.bits);
      // Writes eight bytes unless the buffer ends before; the next codes overwrite the excess.
      const auto left = static_cast<std::size_t>(end - codes);
      if (left >= sizeof(eight)) std::memcpy(codes, &eight, sizeof(eight));
      else std::memcpy(codes, &eight, std::min(left, static_cast<std::size_t>(format.bits)));
    }
  }
}

void Decode(const Format& format, const std::uint8_t* codes, std::size_t n, float norm, float* x) {
  const F32 d;
  const auto unit = hn::Set(d, norm / static_cast<float>(format.levels));
  const auto zero = hn::Set(I32(), format.levels);
  const auto decode_group = [&](const std::uint8_t* group, float* to) HWY_ATTR {
    for (std::size_t k = 0; k < kGroup; k += kLanes) {
      const auto code = hn::PromoteTo(I32(), hn::LoadU(U8(), group + k));
      hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::Sub(code, zero)), unit), d, to + k);
    }
  };
  const std::uint8_t* const end = codes + format.code_bytes(n);
  for (std::size_t i = 0; i < n; i += kGroup) {
    const std::size_t here = std::min(n - i, kGroup);
    HWY_ALIGN std::uint8_t group[kGroup];
    HWY_ALIGN float rest[kGroup];
    if (format.bits == 8 && here == kGroup) {
      decode_group(codes, x + i);
      codes += kGroup;
      continue;
    }
    for (std::size_t k = 0; k < here; k += 8, codes += format.bits) {
      std::uint64_t eight = 0;
      const auto left = static_cast<std::size_t>(end - codes);
      if (left >= sizeof(eight)) std::memcpy(&eight, codes, sizeof(eight));
      else std::memcpy(&eight, codes, left);
      eight = unpack_eight(eight, format.bits);
      std::memcpy(group + k, &eight, sizeof(eight));
    }
    if (here == kGroup) {
      decode_group(group, x + i);
    } else {
      std::fill(group + (here + 7) / 8 * 8, group + kGroup, std::uint8_t{0});
      decode_group(group, rest);
      std::copy_n(rest, here, x + i);
    }
  }
}

}  // namespace trigram::qsgd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trigram::qsgd {

HWY_EXPORT(Norm);
HWY_EXPORT(Encode);
HWY_EXPORT(Decode);

float norm(const Format& format, const float* x, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(Norm)(format, x, n);
}
void encode(const Format& format, const float* x, std::size_t n, float norm, const Philox& random,
            std::uint32_t first_block, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(Encode)(format, x, n, norm, random, first_block, codes);
}
void decode(const Format& format, const std::uint8_t* codes, std::size_t n, float norm, float* x) {
  HWY_DYNAMIC_DISPATCH(Decode)(format, codes, n, norm, x);
}

}  // namespace trigram::qsgd
#endif
