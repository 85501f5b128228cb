#pragma once

#include <math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/cuda_emulation/vector_types.h"

/// The arithmetic, bit operations and atomics of CUDA that the project uses. The host compiles
/// without contraction, so plain operators round like the intrinsics.

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.

inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }

inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selectors) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    result |= static_cast<unsigned>(bytes >> (selectors >> 4 * i & 7) * 8 & 0xFF) << 8 * i;
  }
  return result;
}

// Threads switch only where they synchronise, so a plain update is atomic.
template <class T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = static_cast<T>(old + value);
  return old;
}
template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = old < value ? value : old;
  return old;
}
template <class T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = old | value;
  return old;
}

// CUDA's overloads of min and max at global scope, with mixed types.
using std::max;
using std::min;

// NOLINTEND(bugprone-reserved-identifier)
