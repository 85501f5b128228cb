#include "core/device/vector_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/device/ordered_norms.h"
#include "core/element_types.h"

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

double norm2(std::size_t n, const float* x) {
  const auto add = [x](std::size_t begin, std::size_t count, auto& sums) {
    for (std::size_t i = 0; i < count; ++i) {
      sums[0][i] += static_cast<double>(x[begin + i]) * x[begin + i];
    }
  };
  return norm_order::norms<1>(n, add)[0];
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
