#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/codec.h"
#include "core/codecs/registry.h"
#include "core/device/host_device.h"
#include "core/random/philox.h"
#include "tests/support/config_errors.h"

// Helpers for tests of codecs.

namespace trigram::test {

using Values = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

inline Tensor to_tensor(HostDevice& device, const Values& values) {
  Tensor x = device.empty(values.size());
  if (!values.empty()) std::memcpy(x.data(), values.data(), x.nbytes());
  return x;
}

inline Values to_values(const Tensor& x) {
  const auto floats = x.floats();
  return {floats.begin(), floats.end()};
}

struct Coded {
  Bytes wire;
  Values decoded;
};

/// Encodes a vector, and decodes it with a codec of another key, as a receiver does. Both outputs
/// are filled with garbage first.
inline Coded code(const CodecSpec& spec, const Values& values, const CodecKey& key = {}) {
  HostDevice device;
  auto codec = device.codec(spec, key);
  const Tensor x = to_tensor(device, values), wire = codec->empty_wire(device, x);
  device.fill(wire, 0xAB);
  codec->encode(wire, x);
  const auto bytes = wire.values<std::uint8_t>();
  device.fill(x, 12345);
  device.codec(spec, {99, 99, 99})->decode(x, wire);
  return {{bytes.begin(), bytes.end()}, to_values(x)};
}

inline Values normals(std::size_t n, float scale = 1, float offset = 0) {
  Philox random(1, 0, static_cast<long>(n), Purpose::gradient_noise);
  Values x(n);
  for (float& v : x) v = offset + scale * random.normal();
  return x;
}

/// The error for the codec `j` of a configuration, at /codec, or "no error".
inline std::string codec_error(const Json& j) {
  return config_error_text([&] { codec_kind().parse(j, "/codec"); });
}

inline double norm2_squared(const Values& x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v) * v;
  return sum;
}

inline double distance_squared(const Values& x, const Values& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = static_cast<double>(x[i]) - y[i];
    sum += d * d;
  }
  return sum;
}

/// Bitwise equality, NaN included.
inline ::testing::AssertionResult same_bits(const Values& x, const Values& y) {
  if (x.size() != y.size()) return ::testing::AssertionFailure() << x.size() << ", " << y.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::memcmp(&x[i], &y[i], sizeof(float)) != 0) {
      return ::testing::AssertionFailure() << "element " << i << ": " << x[i] << ", " << y[i];
    }
  }
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same_bytes(const Bytes& x, const Bytes& y) {
  if (x.size() != y.size()) return ::testing::AssertionFailure() << x.size() << ", " << y.size();
  const auto at = std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin();
  if (x == y) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "byte " << at;
}

}  // namespace trigram::test
