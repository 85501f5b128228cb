#include "tests/oracles/codec_references.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/random/philox.h"

namespace trigram::test {
namespace {

constexpr std::size_t kHeader = 32;

float scale_of(float min, float max) { return 255.0f / (max - min + 1e-7f); }

}  // namespace

std::vector<std::uint8_t> minmax_uint8_encode(const std::vector<float>& x) {
  const std::size_t padded = (x.size() + 31) / 32 * 32;
  std::vector<std::uint8_t> wire(kHeader + padded, 0);
  if (x.empty()) return wire;
  // Adding +0 turns -0 into +0.
  const float min = *std::min_element(x.begin(), x.end()) + 0.0f;
  const float max = *std::max_element(x.begin(), x.end()) + 0.0f;
  std::memcpy(wire.data(), &min, 4);
  std::memcpy(wire.data() + 4, &max, 4);
  const float scale = scale_of(min, max);
  const float upper = std::nearbyint(max * scale);
  const float lower = upper - 255.0f;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float code = std::min(std::nearbyint(x[i] * scale), upper) - lower;
    wire[kHeader + i] = static_cast<std::uint8_t>(std::clamp(code, 0.0f, 255.0f));
  }
  return wire;
}

std::vector<float> minmax_uint8_decode(const std::vector<std::uint8_t>& wire, std::size_t numel) {
  float min = 0, max = 0;
  std::memcpy(&min, wire.data(), 4);
  std::memcpy(&max, wire.data() + 4, 4);
  const float scale = scale_of(min, max);
  const float lower = std::nearbyint(max * scale) - 255.0f;
  std::vector<float> x(numel);
  for (std::size_t i = 0; i < numel; ++i) {
    x[i] = (static_cast<float>(wire[kHeader + i]) + lower) / scale;
  }
  return x;
}

namespace {

// A group of 64 elements uses eight random blocks. The words of block j go to elements 2j and 2j +
// 1 of each row of 16: their lowest 15 bits in the first two rows, their highest 15 bits in the
// other rows.
std::uint32_t random15(const Philox& random, std::uint32_t first_block, std::size_t i) {
  const std::size_t group = i / 64, row = i % 64 / 16, column = i % 16;
  const auto block = static_cast<std::uint32_t>(first_block + 8 * group + column / 2);
  const std::uint32_t word = random.block(block)[row % 2 + 2 * (column % 2)];
  return row < 2 ? word & 0x7FFF : word >> 17;
}

std::size_t bucket_bytes(const QsgdFormat& format, std::size_t n) {
  return 4 + (n * static_cast<std::size_t>(format.bits) + 7) / 8;
}

}  // namespace

std::vector<std::uint8_t> qsgd_wire(const QsgdFormat& format, const std::vector<float>& x,
                                    const std::vector<float>& norms, const Philox& random) {
  std::vector<std::uint8_t> wire;
  std::uint32_t first_block = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += format.bucket) {
    const std::size_t n = std::min(format.bucket, x.size() - begin), at = wire.size();
    const float norm = norms[begin / format.bucket];
    wire.resize(at + bucket_bytes(format, n), 0);
    std::memcpy(&wire[at], &norm, 4);
    const float one = static_cast<float>(format.levels) * 32768.0f;
    for (std::size_t i = 0; i < n; ++i) {
      const float scaled = norm > 0 ? x[begin + i] * (one / norm) : 0;
      const long fixed = std::lrint(std::clamp(scaled, -one, one));
      const long code = (fixed + format.levels * 32768L + random15(random, first_block, i)) / 32768;
      for (int bit = 0; bit < format.bits; ++bit) {
        const std::size_t place = i * static_cast<std::size_t>(format.bits) + bit;
        if (code >> bit & 1) {
          wire[at + 4 + place / 8] |= static_cast<std::uint8_t>(1u << place % 8);
        }
      }
    }
    first_block += static_cast<std::uint32_t>((n + 63) / 64 * 8);
  }
  return wire;
}

std::vector<float> qsgd_norms(const QsgdFormat& format, const std::vector<std::uint8_t>& wire,
                              std::size_t numel) {
  std::vector<float> norms;
  for (std::size_t begin = 0, at = 0; begin < numel; begin += format.bucket) {
    float norm = 0;
    std::memcpy(&norm, &wire[at], 4);
    norms.push_back(norm);
    at += bucket_bytes(format, std::min(format.bucket, numel - begin));
  }
  return norms;
}

double qsgd_norm(const QsgdFormat& format, const float* x, std::size_t n) {
  long double squares = 0, largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    squares += static_cast<long double>(x[i]) * x[i];
    largest = std::max(largest, std::fabs(static_cast<long double>(x[i])));
  }
  return static_cast<double>(format.max_norm ? largest : std::sqrt(squares));
}

}  // namespace trigram::test
