// Philox on vectors. There is no include guard, because a kernels file includes this file once for
// each target it is compiled for.

#include <cstddef>
#include <cstdint>

#include "core/random/philox.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::philox_lanes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Philox4x32-10 on a vector of counters, half as many as there are 32-bit lanes: each word is in
// the lower half of a 64-bit lane. The upper halves may hold anything: only lower halves are
// multiplied and only products are shifted.
template <class D>
struct Words {
  hn::Vec<D> w0, w1, w2, w3;
};

// Encrypts counters that differ in word 0 only. Half of the products of the first two rounds are
// then the same for all counters and are computed once. The keys of the other rounds are kept as
// vectors.
template <class D>
struct Generator {
  static constexpr std::uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
  static constexpr int kRounds = 10;

  // Values common to all counters. round0_2 is combined with word 2 in round 0. round1_0 and
  // round1_2 are combined with words 0 and 2 in round 1. round1_3 is word 3 after round 1.
  hn::Vec<D> round0_2, round1_0, round1_2, round1_3;
  hn::Vec<D> keys0[kRounds], keys1[kRounds];

  HWY_INLINE explicit Generator(const Philox& random) {
    const D d;
    Philox::Key key = random.key();
    for (int round = 0; round < kRounds; ++round) {
      keys0[round] = hn::Set(d, key[0]);
      keys1[round] = hn::Set(d, key[1]);
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    const Philox::Block counter = random.counter(0);
    const auto p1 = hn::MulEven(hn::Set(d, counter[2]), hn::Set(d, kMultiplier1));
    const auto w0 = hn::Xor(High(p1), hn::Xor(keys0[0], hn::Set(d, counter[1])));
    const auto p0 = hn::MulEven(w0, hn::Set(d, kMultiplier0));
    round0_2 = hn::Xor(keys1[0], hn::Set(d, counter[3]));
    round1_0 = hn::Xor(keys0[1], hn::BitCast(d, p1));
    round1_2 = hn::Xor(High(p0), keys1[1]);
    round1_3 = hn::BitCast(d, p0);
  }
  // Computes two vectors of blocks together, so that the processor works on one while the products
  // of the other are pending.
  HWY_INLINE void Blocks(std::uint32_t first, Words<D>& a, Words<D>& b) const {
    using D64 = hn::Repartition<std::uint64_t, D>;
    const D64 d64;
    const auto index = hn::Add(hn::Set(d64, first), hn::Iota(d64, 0));
    const auto next = hn::Add(index, hn::Set(d64, hn::MaxLanes(d64)));
    FirstRounds(hn::BitCast(D(), index), a);
    FirstRounds(hn::BitCast(D(), next), b);
    for (int round = 2; round < kRounds; ++round) {
      const auto pa0 = hn::MulEven(a.w0, hn::Set(D(), kMultiplier0));
      const auto pb0 = hn::MulEven(b.w0, hn::Set(D(), kMultiplier0));
      const auto pa1 = hn::MulEven(a.w2, hn::Set(D(), kMultiplier1));
      const auto pb1 = hn::MulEven(b.w2, hn::Set(D(), kMultiplier1));
      a.w0 = hn::Xor(High(pa1), hn::Xor(keys0[round], a.w1));
      b.w0 = hn::Xor(High(pb1), hn::Xor(keys0[round], b.w1));
      a.w2 = hn::Xor(High(pa0), hn::Xor(keys1[round], a.w3));
      b.w2 = hn::Xor(High(pb0), hn::Xor(keys1[round], b.w3));
      a.w1 = hn::BitCast(D(), pa1);
      b.w1 = hn::BitCast(D(), pb1);
      a.w3 = hn::BitCast(D(), pa0);
      b.w3 = hn::BitCast(D(), pb0);
    }
  }
  HWY_INLINE void FirstRounds(hn::Vec<D> index, Words<D>& words) const {
    const auto p0 = hn::MulEven(index, hn::Set(D(), kMultiplier0));
    const auto p1 = hn::MulEven(hn::Xor(High(p0), round0_2), hn::Set(D(), kMultiplier1));
    words = {hn::Xor(High(p1), round1_0), hn::BitCast(D(), p1),
             hn::Xor(hn::BitCast(D(), p0), round1_2), round1_3};
  }
  template <class V>
  static HWY_INLINE hn::Vec<D> High(V product) {
    return hn::BitCast(D(), hn::ShiftRight<32>(product));
  }
};

}  // namespace trigram::philox_lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
