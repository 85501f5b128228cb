#pragma once

#include <cuda_pipeline_primitives.h>

#include "cuda/kernels/codecs/minmax_uint8_mean.h"

namespace trigram::cuda::minmax_uint8 {

/// A ring of buffers in shared memory for wires that are being loaded: while one wire is added to a
/// mean in registers, the next wires are loaded. The block handles the words first .. end - 1 of
/// each wire. Every thread copies and reads only its own words, so no barrier is needed.
template <unsigned kThreads, int kWords>
struct WireRing {
  static constexpr unsigned kSlots = 4, kAhead = kSlots - 1;

  /// Starts loading the first few of `count` wires. Call it once before each `read`.
  template <class Wires>
  __device__ __forceinline__ void begin(const Wires& wires, unsigned first_wire, unsigned count,
                                        unsigned first, unsigned end) {
    for (unsigned k = 0; k < kAhead; ++k) stage(wires, first_wire, k, count, first, end);
  }

  /// Does the same as MeanReader::read.
  template <class Wires>
  __device__ __forceinline__ void read(float4 (&v)[kWords], MeanReader<kThreads> reader,
                                       const Wires& wires, unsigned first_wire, unsigned count,
                                       float scale, unsigned first, unsigned end) {
    clear(v);
    reader.for_each_wire(wires, first_wire, count, [&](unsigned k, const Decoder& decoder) {
      stage(wires, first_wire, k + kAhead, count, first, end);
      __pipeline_wait_prior(kAhead);
      const auto& own = codes[k % kSlots];
      const auto add_words = [&](const auto& decode) {
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
          if (first + i * kThreads + threadIdx.x >= end) break;
          v[i] = sum_of(decode(own[i][threadIdx.x]), v[i]);
        }
      };
      if (decoder.fast) add_words([&](std::uint32_t word) { return decoder.fast_word(word); });
      else add_words([&](std::uint32_t word) { return decoder.word(word); });
    });
#pragma unroll
    for (int i = 0; i < kWords; ++i) v[i] = scaled(scale, v[i]);
  }

  std::uint32_t codes[kSlots][kWords][kThreads];

 private:
  /// Starts the copies of wire k, if there is such a wire. Commits a group in any case, because
  /// `read` counts groups.
  template <class Wires>
  __device__ __forceinline__ void stage(const Wires& wires, unsigned first_wire, unsigned k,
                                        unsigned count, unsigned first, unsigned end) {
    if (k < count) copy(codes[k % kSlots], wires[first_wire + k] + kHeaderBytes, first, end);
    __pipeline_commit();
  }

  static __device__ __forceinline__ void copy(std::uint32_t (&to)[kWords][kThreads],
                                              const std::byte* from, unsigned first, unsigned end) {
    const bool aligned = is_aligned(from, 4);
#pragma unroll 4
    for (int i = 0; i < kWords; ++i) {
      const unsigned w = first + i * kThreads + threadIdx.x;
      if (w >= end) break;
      if (aligned) __pipeline_memcpy_async(&to[i][threadIdx.x], from + 4 * w, 4);
      else to[i][threadIdx.x] = load_codes(from, w, false);
    }
  }
};

}  // namespace trigram::cuda::minmax_uint8
