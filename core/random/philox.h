#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trigram {

/// The use of random numbers. Each purpose has its own streams of numbers.
enum class Purpose : std::uint8_t {
  weights,
  data_set,
  data_order,
  gradient_noise,
  codec,
  peers,
  machine_delay,
  network_jitter,
  data_shards,
  run_time,
  run_time_mean,
  failure,
  dropout,
};

/// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel Random Numbers: As Easy
/// as 1, 2, 3" (SC'11, doi:10.1145/2063384.2063405). A draw depends only on (seed, rank, step,
/// purpose) and on its position in the stream, so it is the same in every world, whatever else was
/// drawn. Uses no libm.
class Philox {
 public:
  using Block = std::array<std::uint32_t, 4>;
  using Key = std::array<std::uint32_t, 2>;

  /// The bijection itself: ten rounds over one counter.
  static constexpr Block encrypt(Block counter, Key key);
  /// The number that `normal` computes from a block: mean 0, variance 1, |x| < 4.9.
  static constexpr float normal_of(const Block& block);

  /// `step` must be below 2^56. It counts iterations, epochs, or another period; every period has
  /// new numbers.
  Philox(std::uint64_t seed, int rank, long step, Purpose purpose);

  /// The `index`-th block of the stream; does not depend on the functions below.
  Block block(std::uint32_t index) const;
  /// The counter that `encrypt` turns into that block, for vectorised loops.
  Block counter(std::uint32_t index) const {
    return {index, counter_[1], counter_[2], counter_[3]};
  }
  Key key() const { return key_; }
  /// Number of words that the functions below have taken from the stream.
  std::uint64_t drawn() const { return std::uint64_t{next_block_} * 4 - (4 - used_); }

  std::uint32_t bits();
  /// Uniform on [0, 1), a multiple of 2^-24.
  float uniform();
  /// Mean 0, variance 1, |x| < 4.9: the sum of eight uniforms, centred and scaled. The sum is
  /// exact, because it is a sum of integers. The distribution is close enough to a normal one for
  /// weights and noise (excess kurtosis -0.15).
  float normal();
  /// Uniform on 0 .. bound-1, unbiased; `bound` must be > 0.
  std::uint32_t below(std::uint32_t bound);
  /// A uniform permutation of 0 .. n-1 (Fisher-Yates).
  std::vector<std::uint32_t> permutation(std::uint32_t n);

 private:
  Key key_;
  Block counter_;  // the counter of block 0
  Block buffer_{};
  std::uint32_t next_block_ = 0;
  unsigned used_ = 4;  // words already taken from buffer_; 4 before the first draw
};

// These two are constexpr, so that GPU kernels can call them too.

constexpr Philox::Block Philox::encrypt(Block c, Key k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

constexpr float Philox::normal_of(const Block& block) {
  // Eight uniform 16-bit integers have mean 8 * 65535 / 2 and variance 8 * (2^32 - 1) / 12.
  constexpr std::int32_t kMean = 4 * 65535;
  constexpr double kInverseDeviation = 1 / 53509.91992145008;
  std::int32_t sum = -kMean;
  for (int word = 0; word < 4; ++word) {
    const std::uint32_t x = block[static_cast<std::size_t>(word)];
    sum += static_cast<std::int32_t>((x >> 16) + (x & 0xFFFF));
  }
  return static_cast<float>(sum * kInverseDeviation);
}

}  // namespace trigram
