#include "core/random/philox.h"

#include <numeric>
#include <utility>

#include "core/check.h"

namespace trigram {

Philox::Philox(std::uint64_t seed, int rank, long step, Purpose purpose)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(rank),
               static_cast<std::uint32_t>(static_cast<std::uint64_t>(step) >> 32 << 8) |
                   static_cast<std::uint32_t>(purpose)} {
  TRIGRAM_CHECK(step >= 0 && step < 1L << 56 && rank >= 0, "rank {}, step {}", rank, step);
}

Philox::Block Philox::block(std::uint32_t index) const {
  Block counter = counter_;
  counter[0] = index;
  return encrypt(counter, key_);
}

std::uint32_t Philox::bits() {
  if (used_ == buffer_.size()) {
    buffer_ = block(next_block_++);
    // A repeated counter would repeat the stream.
    TRIGRAM_CHECK(next_block_ != 0, "more than 2^34 draws from one key");
    used_ = 0;
  }
  return buffer_[used_++];
}

float Philox::uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }

float Philox::normal() {
  Block words;
  for (std::uint32_t& word : words) word = bits();
  return normal_of(words);
}

std::uint32_t Philox::below(std::uint32_t bound) {
  TRIGRAM_CHECK(bound > 0, "no integer is below 0");
  // Lemire, "Fast Random Integer Generation in an Interval" (arXiv 1805.10941): takes the high half
  // of bits * bound, and draws again in the few cases that would favour some values.
  const std::uint32_t threshold = -bound % bound;
  for (;;) {
    const std::uint64_t product = std::uint64_t{bits()} * bound;
    if (static_cast<std::uint32_t>(product) >= threshold) {
      return static_cast<std::uint32_t>(product >> 32);
    }
  }
}

std::vector<std::uint32_t> Philox::permutation(std::uint32_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

}  // namespace trigram
