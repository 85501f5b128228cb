#include "core/device/vector_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/device/element_types.h"

namespace trigram::vector_ops {

void fill(std::size_t n, float* x, float value) { std::fill_n(x, n, value); }

void axpby(std::size_t n, float a, const float* x, float b, float* y) {
  if (b == 0) {
    for (std::size_t i = 0; i < n; ++i) y[i] = a * x[i];
  } else if (a == 1 && b == 1) {  // the sum of every reduction
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

double norm2(std::size_t n, const float* x) {
  // Eight partial sums whatever the machine's vectors, combined as a tree.
  constexpr std::size_t kLanes = 8;
  double sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += static_cast<double>(x[i + lane]) * x[i + lane];
    }
  }
  for (std::size_t lane = 0; i + lane < n; ++lane) {
    sums[lane] += static_cast<double>(x[i + lane]) * x[i + lane];
  }
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return std::sqrt(sums[0]);
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
      const float kept = b == 0 ? 0 : b * Type::load(to[i]);
      to[i] = Type::store(a * Type::load(from[i]) + kept);
    }
  });
}

}  // namespace trigram::vector_ops
