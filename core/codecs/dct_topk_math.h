#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/math/elementary.h"

/// The format of the codec dct_topk (core/codecs/dct_topk.cpp), which the host and accelerators
/// share.
namespace trigram::dct_topk {

/// A chunk is a matrix of up to 64 rows of up to 64 elements.
inline constexpr std::size_t kSide = 64, kChunk = kSide * kSide;
/// Codes of 28 bits, an index of 12 bits and a bf16, are packed in groups of two, 7 bytes.
inline constexpr std::size_t kGroup = 2, kGroupBytes = 7, kCodeBits = 28;

struct Shape {
  std::size_t rows, columns;
};
/// The shape of a chunk of `numel` > 0 elements; zeros fill the rest of the last row.
constexpr Shape shape_of(std::size_t numel) {
  const std::size_t columns = numel < kSide ? numel : kSide;
  return {(numel + columns - 1) / columns, columns};
}

/// Coefficients that are kept of a chunk of `numel` elements, if `keep` are kept of a whole one.
constexpr std::size_t kept_of(std::size_t numel, std::size_t keep) {
  return (numel * keep + kChunk - 1) / kChunk;
}
constexpr std::size_t chunk_bytes(std::size_t numel, std::size_t keep) {
  return (kept_of(numel, keep) + kGroup - 1) / kGroup * kGroupBytes;
}
constexpr std::size_t wire_bytes(std::size_t numel, std::size_t keep) {
  const std::size_t rest = numel % kChunk;
  return numel / kChunk * chunk_bytes(kChunk, keep) + (rest > 0 ? chunk_bytes(rest, keep) : 0);
}

/// Element (k, i) of the orthonormal DCT-II of n values is
///   norm(n, k) * cosine(n, (2 i + 1) k mod 4 n):
/// sqrt((k == 0 ? 1 : 2) / n) and cos(pi phase / (2 n)).
constexpr float norm(std::size_t n, std::size_t k) {
  return static_cast<float>(sqrt_portable((k == 0 ? 1.0 : 2.0) / static_cast<double>(n)));
}
constexpr float cosine(std::size_t n, std::size_t phase) {
  const std::size_t folded = phase <= 2 * n ? phase : 4 * n - phase;
  return static_cast<float>(
      cos_pi_portable(static_cast<double>(folded) / static_cast<double>(2 * n)));
}

/// The value of coefficients of a chunk with a NaN or an infinity.
inline constexpr std::uint32_t kDiverged = 0x7FC0;
/// True if the largest magnitude of a chunk's coefficients has no finite bf16.
constexpr bool is_diverged(float largest) {
  return std::bit_cast<std::uint32_t>(largest) >= 0x7F7F8000;
}
/// The nearest bf16 of a number that has one; of two, the even one.
constexpr std::uint32_t bf16_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

/// A code: the index in bits 0 .. 11, the value in bits 12 .. 27.
constexpr std::uint32_t code_of(std::uint32_t index, std::uint32_t value) {
  return index | value << 12;
}
constexpr std::uint32_t index_of(std::uint32_t code) { return code & 0xFFF; }
constexpr float value_of(std::uint32_t code) { return std::bit_cast<float>(code >> 12 << 16); }

}  // namespace trigram::dct_topk
