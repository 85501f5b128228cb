#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

/// The format of the codec chunk_topk (core/codecs/chunk_topk.cpp), which the host and accelerators
/// share.
namespace trigram::chunk_topk {

/// Elements of a chunk, whose indices have 12 bits.
inline constexpr std::size_t kChunk = 4096;
/// Before the codes of a chunk come two f32, the levels of its magnitudes.
inline constexpr std::size_t kHeaderBytes = 8;
/// Codes of 14 bits are packed in groups of four, 7 bytes.
inline constexpr std::size_t kGroup = 4, kGroupBytes = 7;

/// Elements that are kept of a chunk of `numel` elements, if `keep` are kept of a whole one.
constexpr std::size_t kept_of(std::size_t numel, std::size_t keep) {
  return (numel * keep + kChunk - 1) / kChunk;
}
constexpr std::size_t chunk_bytes(std::size_t numel, std::size_t keep) {
  return kHeaderBytes + (kept_of(numel, keep) + kGroup - 1) / kGroup * kGroupBytes;
}
constexpr std::size_t wire_bytes(std::size_t numel, std::size_t keep) {
  const std::size_t rest = numel % kChunk;
  return numel / kChunk * chunk_bytes(kChunk, keep) + (rest > 0 ? chunk_bytes(rest, keep) : 0);
}

/// The levels of a chunk whose kept magnitudes are from `least` to `most`: the middles of the two
/// halves of this range. The lower one is at most 2 * `least`, so that no kept element is further
/// from its level than from 0.
struct Levels {
  float low = 0, high = 0, middle = 0;  // magnitudes from `middle` on get `high`

  static constexpr Levels of(float least, float most) {
    const float range = most - least;
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    if (range - range != 0) return {kNaN, kNaN, 0};
    const float quarter = least + 0.25f * range, twice = 2 * least;
    return {quarter < twice ? quarter : twice, least + 0.75f * range, least + 0.5f * range};
  }
};

/// A code: the index in bits 0 .. 11, the level in bit 12, the sign in bit 13.
constexpr std::uint32_t code_of(std::uint32_t index, float x, const Levels& levels) {
  const float magnitude = x < 0 ? -x : x;
  return index | (magnitude >= levels.middle ? 1u : 0u) << 12 | (x < 0 ? 1u : 0u) << 13;
}
constexpr float value_of(std::uint32_t code, float low, float high) {
  const float magnitude = code >> 12 & 1 ? high : low;
  return code >> 13 & 1 ? -magnitude : magnitude;
}

}  // namespace trigram::chunk_topk
