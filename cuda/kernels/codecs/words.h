#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// A word is four elements, or their four codes. It is the unit that one thread handles. Vectors
/// and wires may begin at any address; if the alignment allows it, a word takes one memory access.
namespace trigram::cuda {

template <class T>
__device__ __forceinline__ bool is_aligned(const T* address, std::size_t nbytes) {
  return reinterpret_cast<std::size_t>(address) % nbytes == 0;
}

/// The number of elements, 0 .. 4, in word `w` of a vector of `numel` elements. `Index` has 32 bits
/// in kernels that need to save registers.
template <class Index>
__device__ __forceinline__ unsigned elements_of_word(Index numel, Index w) {
  if (4 * w >= numel) return 0;
  const Index left = numel - 4 * w;
  return left < 4 ? static_cast<unsigned>(left) : 4;
}

/// Loads word `w` of `x`, which has `count` > 0 elements. In place of missing elements it repeats
/// the first element.
template <class Index>
__device__ __forceinline__ float4 load_word(const float* x, Index w, unsigned count, bool aligned) {
  if (count == 4 && aligned) return reinterpret_cast<const float4*>(x)[w];
  const float* at = x + 4 * w;
  float4 v;
  v.x = at[0];
  v.y = count > 1 ? at[1] : v.x;
  v.z = count > 2 ? at[2] : v.x;
  v.w = count > 3 ? at[3] : v.x;
  return v;
}

template <class Index>
__device__ __forceinline__ void store_word(float* x, Index w, float4 v, unsigned count,
                                           bool aligned) {
  if (count == 4 && aligned) {
    reinterpret_cast<float4*>(x)[w] = v;
    return;
  }
  float* at = x + 4 * w;
  if (count > 0) at[0] = v.x;
  if (count > 1) at[1] = v.y;
  if (count > 2) at[2] = v.z;
  if (count > 3) at[3] = v.w;
}

/// The four bytes at word `w` of `bytes`.
template <class Index>
__device__ __forceinline__ std::uint32_t load_codes(const std::byte* bytes, Index w, bool aligned) {
  if (aligned) return reinterpret_cast<const std::uint32_t*>(bytes)[w];
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes) + 4 * w;
  return at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
         std::uint32_t{at[3]} << 24;
}

template <class Index>
__device__ __forceinline__ void store_codes(std::byte* bytes, Index w, std::uint32_t codes,
                                            bool aligned) {
  if (aligned) {
    reinterpret_cast<std::uint32_t*>(bytes)[w] = codes;
    return;
  }
  auto* at = reinterpret_cast<std::uint8_t*>(bytes) + 4 * w;
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(codes >> 8 * i);
}

__device__ __forceinline__ float4 sum_of(float4 a, float4 b) {
  return {__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y), __fadd_rn(a.z, b.z), __fadd_rn(a.w, b.w)};
}

__device__ __forceinline__ float4 difference_of(float4 a, float4 b) {
  return {__fsub_rn(a.x, b.x), __fsub_rn(a.y, b.y), __fsub_rn(a.z, b.z), __fsub_rn(a.w, b.w)};
}

__device__ __forceinline__ float4 scaled(float a, float4 x) {
  return {__fmul_rn(a, x.x), __fmul_rn(a, x.y), __fmul_rn(a, x.z), __fmul_rn(a, x.w)};
}

}  // namespace trigram::cuda
