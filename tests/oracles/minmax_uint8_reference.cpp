#include "tests/oracles/minmax_uint8_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

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

}  // namespace trigram::test
