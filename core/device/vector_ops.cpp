#include "core/device/vector_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/device/element_types.h"
#include "core/device/norm_order.h"

namespace trigram::vector_ops {

void fill(std::size_t n, float* x, float value) { std::fill_n(x, n, value); }

void axpby(std::size_t n, float a, const float* x, float b, float* y) {
  if (b == 0) {
    for (std::size_t i = 0; i < n; ++i) y[i] = a * x[i];
  } else if (a == 1 && b == 1) {  // the addition that every reduction uses
    for (std::size_t i = 0; i < n; ++i) y[i] = x[i] + y[i];
  } else {
    for (std::size_t i = 0; i < n; ++i) y[i] = a * x[i] + b * y[i];
  }
}

void maximum(std::size_t n, const float* x, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
}

void cut_below(std::size_t n, float magnitude, float* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] = std::fabs(x[i]) < magnitude ? 0 : x[i];
}

void sgd(std::size_t n, const SgdStep& step, float* w, const float* g, float* m) {
  const auto [lr, momentum, decay] = step;
  if (momentum == 0) {
    for (std::size_t i = 0; i < n; ++i) w[i] -= lr * (g[i] + decay * w[i]);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    m[i] = momentum * m[i] + (g[i] + decay * w[i]);
    w[i] -= lr * m[i];
  }
}

void adam(std::size_t n, const AdamStep& step, float* w, const float* g, float* m, float* v) {
  const AdamStep s = step;
  const float rest1 = 1 - s.beta1, rest2 = 1 - s.beta2, shrink = s.lr * s.decoupled_weight_decay;
  for (std::size_t i = 0; i < n; ++i) {
    const float gradient = g[i] + s.weight_decay * w[i];
    m[i] = s.beta1 * m[i] + rest1 * gradient;
    v[i] = s.beta2 * v[i] + rest2 * (gradient * gradient);
    const float update = (m[i] / s.correction1) / (std::sqrt(v[i] / s.correction2) + s.eps);
    w[i] = (w[i] - shrink * w[i]) - s.lr * update;
  }
}

namespace {

using norm_order::kSums;
using norm_order::kThreads;

/// Combines one value per thread in the order of a GPU block (norm_order.h).
double block_sum(double (&values)[kThreads]) {
  constexpr std::size_t kWarp = 32;
  for (std::size_t width = kWarp / 2; width > 0; width /= 2) {
    for (std::size_t warp = 0; warp < kThreads; warp += kWarp) {
      for (std::size_t i = warp; i < warp + width; ++i) values[i] += values[i + width];
    }
  }
  double sum = values[0];
  for (std::size_t warp = kWarp; warp < kThreads; warp += kWarp) sum += values[warp];
  return sum;
}

double squares(std::size_t n, const float* x) {
  double sums[kSums] = {};
  for (std::size_t begin = 0; begin < n; begin += kSums) {
    const std::size_t count = std::min(kSums, n - begin);
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] += static_cast<double>(x[begin + i]) * x[begin + i];
    }
  }
  double values[kThreads];
  for (std::size_t t = 0; t < kThreads; ++t) {
    const double* const thread_sums = sums + 4 * t;
    values[t] = (thread_sums[0] + thread_sums[2]) + (thread_sums[1] + thread_sums[3]);
  }
  return block_sum(values);
}

}  // namespace

double norm2(std::size_t n, const float* x) {
  const std::size_t range = norm_order::range_of(n);
  double values[kThreads] = {};
  for (std::size_t begin = 0; begin < n; begin += range) {
    values[begin / range % kThreads] += squares(std::min(range, n - begin), x + begin);
  }
  return std::sqrt(block_sum(values));
}

namespace {

using element::visit_type;

template <class To, class From>
void convert_elements(std::size_t n, std::byte* to, const std::byte* from) {
  auto* dst = reinterpret_cast<typename To::Stored*>(to);
  auto* src = reinterpret_cast<const typename From::Stored*>(from);
  for (std::size_t i = 0; i < n; ++i) dst[i] = To::store(From::load(src[i]));
}

}  // namespace

void convert(std::size_t n, DType to, std::byte* dst, DType from, const std::byte* src) {
  if (to == from) {
    if (dst != src) std::memcpy(dst, src, n * size_of(to));
    return;
  }
  visit_type(to, [&](auto t) {
    visit_type(from, [&](auto f) { convert_elements<decltype(t), decltype(f)>(n, dst, src); });
  });
}

void axpby(std::size_t n, DType type, float a, const std::byte* x, float b, std::byte* y) {
  visit_type(type, [&]<class Type>(Type) {
    auto* from = reinterpret_cast<const typename Type::Stored*>(x);
    auto* to = reinterpret_cast<typename Type::Stored*>(y);
    for (std::size_t i = 0; i < n; ++i) {
      const float old_term = b == 0 ? 0 : b * Type::load(to[i]);
      to[i] = Type::store(a * Type::load(from[i]) + old_term);
    }
  });
}

}  // namespace trigram::vector_ops
