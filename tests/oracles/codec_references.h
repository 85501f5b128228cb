#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/random/philox.h"

namespace trigram::test {

/// MinMaxUInt8, element by element, by the formulas of BAGUA's bagua_kernels.cu and with the clamp
/// to 0..255. It is for finite values whose range does not overflow. It shares no code with core/.
std::vector<std::uint8_t> minmax_uint8_encode(const std::vector<float>& x);
std::vector<float> minmax_uint8_decode(const std::vector<std::uint8_t>& wire, std::size_t numel);

struct QsgdFormat {
  int levels, bits;
  std::size_t bucket;
  bool max_norm;
};

/// QSGD's code of x, element by element and bit by bit. The norms, one per bucket, are arguments,
/// because their last bits depend on the order of summation. Shares only the generator of random
/// numbers with core/.
std::vector<std::uint8_t> qsgd_wire(const QsgdFormat& format, const std::vector<float>& x,
                                    const std::vector<float>& norms, const Philox& random);
/// The norms in a wire.
std::vector<float> qsgd_norms(const QsgdFormat& format, const std::vector<std::uint8_t>& wire,
                              std::size_t numel);
/// The norm of one bucket, in extended precision.
double qsgd_norm(const QsgdFormat& format, const float* x, std::size_t n);

/// The scale of a code of signs: with `l1_mean` the mean magnitude, otherwise the root mean square.
inline double sign_scale(const std::vector<float>& x, bool l1_mean) {
  long double sum = 0;
  for (const float v : x) {
    sum += l1_mean ? std::fabs(static_cast<long double>(v)) : static_cast<long double>(v) * v;
  }
  const long double mean = sum / static_cast<long double>(x.size());
  return static_cast<double>(l1_mean ? mean : std::sqrt(mean));
}

/// The two values to which signs are decoded. `sign_means` gives the mean of the elements that are
/// not below zero, and the mean of the elements below zero; a mean of no elements is 0.
struct SignLevels {
  double plus = 0, minus = 0;
};
inline SignLevels sign_means(const std::vector<float>& x) {
  long double sums[2] = {};
  int counts[2] = {};
  for (const float v : x) {
    sums[v < 0] += static_cast<long double>(v);
    ++counts[v < 0];
  }
  for (const int side : {0, 1})
    if (counts[side] > 0) sums[side] /= counts[side];
  return {static_cast<double>(sums[0]), static_cast<double>(sums[1])};
}

/// The code of signs: an f32 scale, then one bit per element, which is set if the element is below
/// zero. The scale is an argument, because its last bit depends on the order of summation.
inline std::vector<std::uint8_t> sign_wire(const std::vector<float>& x, float scale) {
  std::vector<std::uint8_t> wire(4 + (x.size() + 7) / 8, 0);
  std::memcpy(wire.data(), &scale, 4);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] < 0) wire[4 + i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
  }
  return wire;
}

/// The indices of the first k elements in a stable sort by falling magnitude, in ascending order.
inline std::vector<std::uint32_t> topk_indices(const std::vector<float>& x, std::size_t k) {
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::fabs(x[a]) > std::fabs(x[b]);
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace trigram::test
