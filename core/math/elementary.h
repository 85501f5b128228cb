#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace trigram {

/// Elementary functions that use only additions, multiplications and divisions in a fixed order,
/// which IEEE 754 rounds alike everywhere. The C library's functions differ in their last bits
/// between versions and machines; these functions give the same weights everywhere, including in
/// GPU kernels.

namespace elementary {
// The sum of c[i] * x^i, evaluated from the highest power down (Horner).
template <class T, int n>
constexpr T polynomial(const T (&c)[n], T x) {
  T sum = c[n - 1];
  for (int i = n - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}
}  // namespace elementary

/// e^x, within 2 ulp. 0 below -87.3, infinity above 88.7; NaN stays NaN.
constexpr float exp_portable(float x) {
  if (!(x <= 88.7f)) return x > 88.7f ? std::numeric_limits<float>::infinity() : x;
  if (x < -87.3f) return 0;
  // x = n ln 2 + r with |r| <= ln(2) / 2; ln 2 is split so that n * high is exact.
  constexpr float kHigh = 0.693359375f, kLow = -2.12194440e-4f, kLog2e = 1.44269504f;
  const float scaled = x * kLog2e;
  const int n = static_cast<int>(scaled + (scaled < 0 ? -0.5f : 0.5f));
  const float r = (x - static_cast<float>(n) * kHigh) - static_cast<float>(n) * kLow;
  // Taylor series; the first omitted term is below 2^-27.
  constexpr float kTerms[] = {1, 1, 1.f / 2, 1.f / 6, 1.f / 24, 1.f / 120, 1.f / 720, 1.f / 5040};
  const float p = elementary::polynomial(kTerms, r);
  // Two factors, because 2^128 is not a float but e^88.7 is.
  const int half = n / 2;
  const auto power = [](int e) { return std::bit_cast<float>((e + 127) << 23); };
  return p * power(half) * power(n - half);
}

/// 1 / (1 + e^-x), within 4 ulp where it is above 1e-30. NaN stays NaN.
constexpr float sigmoid_portable(float x) { return 1 / (1 + exp_portable(-x)); }

/// The hyperbolic tangent, within 2e-7.
constexpr float tanh_portable(float x) { return 2 * sigmoid_portable(2 * x) - 1; }

inline constexpr float kTwoRootTwoOverPi = 1.5957691216057308f;  // 2 sqrt(2 / pi)

/// The Gaussian error linear unit in the tanh approximation (NnOps::gelu) is x * gelu_sigmoid(x);
/// gelu_slope is its derivative.
constexpr float gelu_sigmoid(float x) {
  return sigmoid_portable(kTwoRootTwoOverPi * (x + 0.044715f * (x * x * x)));
}
constexpr float gelu_portable(float x) { return x * gelu_sigmoid(x); }
constexpr float gelu_slope(float x) {
  const float s = gelu_sigmoid(x);
  // Beyond 1e19, the square overflows and the result is NaN, which shows that training has
  // diverged.
  return s + x * (s * (1 - s)) * (kTwoRootTwoOverPi * (1 + 3 * 0.044715f * (x * x)));
}

/// The slope of the linear bias of attention head `head` of `heads`: 2^(-8 (head + 1) / heads)
/// (arXiv 2108.12409, section 3).
constexpr float attention_slope(unsigned head, unsigned heads) {
  return exp_portable(-5.545177444479562f * static_cast<float>(head + 1) /
                      static_cast<float>(heads));
}

/// The natural logarithm; the error is at most 4e-16 times the larger of 1 and the result's
/// magnitude. -infinity at 0; NaN for negative numbers and NaN.
constexpr double log_portable(double x) {
  if (!(x > 0)) {
    return x == 0 ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  }
  if (x == std::numeric_limits<double>::infinity()) return x;
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    exponent = -54;
  }
  // x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)).
  const auto bits = std::bit_cast<std::int64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (m > 1.4142135623730951) {
    m /= 2;
    ++exponent;
  }
  // log m = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...), s = (m-1)/(m+1), |s| < 0.1716.
  const double s = (m - 1) / (m + 1);
  constexpr double kTerms[] = {1,       1. / 3,  1. / 5,  1. / 7,  1. / 9,
                               1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19};
  constexpr double kHigh = 0x1.62e42fefa38p-1, kLow = 0x1.ef35793c7673p-45;  // ln 2
  const double e = exponent;
  return e * kHigh + (e * kLow + 2 * s * elementary::polynomial(kTerms, s * s));
}

/// cos(pi * x) for x in [0, 1], within 1e-15.
constexpr double cos_pi_portable(double x) {
  // The series is needed only up to pi/2, because cos(pi x) = -cos(pi (1 - x)).
  const bool upper = x > 0.5;
  const double y = (upper ? 1 - x : x) * 3.141592653589793;
  // 1 - y^2/2! + y^4/4! - ...; the first omitted term is below 2e-17 at pi/2.
  constexpr double kTerms[] = {1,
                               -1. / 2,
                               1. / 24,
                               -1. / 720,
                               1. / 40320,
                               -1. / 3628800,
                               1. / 479001600,
                               -1. / 87178291200,
                               1. / 20922789888000,
                               -1. / 6402373705728000,
                               1. / 2432902008176640000};
  const double c = elementary::polynomial(kTerms, y * y);
  return upper ? -c : c;
}

/// The square root for x in [1e-6, 2], within 2 ulp.
constexpr double sqrt_portable(double x) {
  // Newton's iteration converges from above, from below 1000 times the root in 18 steps.
  double root = 1;
  for (int i = 0; i < 18; ++i) root = 0.5 * (root + x / root);
  return root;
}

}  // namespace trigram
