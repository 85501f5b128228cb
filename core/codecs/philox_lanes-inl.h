// Philox on vectors. Without an include guard: a kernels file includes it once for each target it
// is compiled for.

#include <cstddef>
#include <cstdint>

#include "core/random/philox.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trigram::philox_lanes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Philox4x32-10 on half as many counters as there are lanes, each word in the lower half of a
// 64-bit lane. What is in the upper halves does not matter: only lower halves are multiplied, only
// products shifted.
template <class D>
struct Words {
  hn::Vec<D> w0, w1, w2, w3;
};

// What all counters share, in vectors: keys of the rounds, words 1 to 3 of the counter.
template <class D>
struct Generator {
  hn::Vec<D> keys0[10], keys1[10], w1, w2, w3;

  HWY_INLINE explicit Generator(const Philox& random) {
    const D d;
    Philox::Key key = random.key();
    for (int round = 0; round < 10; ++round) {
      keys0[round] = hn::Set(d, key[0]);
      keys1[round] = hn::Set(d, key[1]);
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    const Philox::Block counter = random.counter(0);
    w1 = hn::Set(d, counter[1]);
    w2 = hn::Set(d, counter[2]);
    w3 = hn::Set(d, counter[3]);
  }
  // Two of them at a time: one waits for its products while the other computes.
  HWY_INLINE void Blocks(std::uint32_t first, Words<D>& a, Words<D>& b) const {
    using D64 = hn::Repartition<std::uint64_t, D>;
    const D64 d64;
    const auto index = hn::Add(hn::Set(d64, first), hn::Iota(d64, 0));
    const auto next = hn::Add(index, hn::Set(d64, hn::MaxLanes(d64)));
    a = {hn::BitCast(D(), index), w1, w2, w3};
    b = {hn::BitCast(D(), next), w1, w2, w3};
    for (int round = 0; round < 10; ++round) {
      const auto pa0 = hn::MulEven(a.w0, hn::Set(D(), 0xD2511F53u));
      const auto pb0 = hn::MulEven(b.w0, hn::Set(D(), 0xD2511F53u));
      const auto pa1 = hn::MulEven(a.w2, hn::Set(D(), 0xCD9E8D57u));
      const auto pb1 = hn::MulEven(b.w2, hn::Set(D(), 0xCD9E8D57u));
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
  template <class V>
  static HWY_INLINE hn::Vec<D> High(V product) {
    return hn::BitCast(D(), hn::ShiftRight<32>(product));
  }
};

}  // namespace trigram::philox_lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
