#pragma once

#include <bit>
#include <cstdint>

#include "core/random/philox.h"

namespace trigram {

/// A pseudo-random permutation of 0 .. n-1, any element of which can be computed without the
/// others. Its first k elements are a random subset of size k. A Feistel network permutes the
/// numbers below the smallest power of two >= n (at least 4) and is applied again until the result
/// is below n (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002; for
/// parallel shuffles, Mitchell et al., arXiv 2106.06161). The round function is Philox.
class RandomPermutation {
 public:
  constexpr RandomPermutation(std::uint64_t seed, std::uint32_t n)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        n_(n),
        right_bits_(n <= 4 ? 1 : static_cast<std::uint32_t>(std::bit_width(n - 1)) / 2),
        left_mask_((n <= 4 ? 2u : 1u << (std::bit_width(n - 1) - right_bits_)) - 1) {}

  /// The permutation of the same n with another seed.
  constexpr RandomPermutation with_seed(std::uint64_t seed) const {
    RandomPermutation other = *this;
    other.key_ = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    return other;
  }

  /// Element `i` of the permutation; i must be below n.
  constexpr std::uint32_t operator[](std::uint32_t i) const {
    do i = permuted(i);
    while (i >= n_);
    return i;
  }

 private:
  static constexpr std::uint32_t kRounds = 8;

  constexpr std::uint32_t random(std::uint32_t half, std::uint32_t round) const {
    return Philox::encrypt({half, round, 0, 0}, key_)[0];
  }
  constexpr std::uint32_t permuted(std::uint32_t i) const {
    const std::uint32_t right_mask = (1u << right_bits_) - 1;
    std::uint32_t left = i >> right_bits_, right = i & right_mask;
    for (std::uint32_t round = 0; round < kRounds; round += 2) {
      left ^= random(right, round) & left_mask_;
      right ^= random(left, round + 1) & right_mask;
    }
    return left << right_bits_ | right;
  }

  Philox::Key key_;
  std::uint32_t n_, right_bits_, left_mask_;
};

}  // namespace trigram
