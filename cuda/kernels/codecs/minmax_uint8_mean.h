#pragma once

#include "cuda/kernels/codecs/minmax_uint8_math.h"

namespace trigram::cuda::minmax_uint8 {

/// Makes means of wires, word by word, by all threads of a block together. In shared memory: the
/// decoders of a few wires at a time.
template <unsigned kThreads>
class MeanReader {
 public:
  static constexpr unsigned kWires = 16;
  struct Shared {
    Range ranges[kWires];
    int wrong[kWires];  // codes on which a decoder's fast way fails
  };

  __device__ __forceinline__ explicit MeanReader(Shared& shared) : shared_(shared) {}

  /// v[i] = scale * the sum of the wires' words `first + i * kThreads + threadIdx.x`, as far as
  /// these are below `end`. All threads of the block call it.
  template <int kWords, class Wires, class Index>
  __device__ __forceinline__ void read(float4 (&v)[kWords], const Wires& wires, unsigned first_wire,
                                       unsigned count, float scale, Index first, Index end) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) v[i] = {};
    for (unsigned begin = 0; begin < count; begin += kWires) {
      const unsigned here = min(count - begin, kWires);
      prepare(wires, first_wire + begin, here);
      for (unsigned k = 0; k < here; ++k) {
        Decoder decoder(shared_.ranges[k]);
        decoder.fast = decoder.fast && shared_.wrong[k] == 0;
        add(v, wires[first_wire + begin + k], decoder, begin + k == 0, first, end);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) v[i] = scaled(scale, v[i]);
  }

 private:
  template <class Wires>
  __device__ __forceinline__ void prepare(const Wires& wires, unsigned first_wire, unsigned count) {
    if (threadIdx.x < count) {
      shared_.ranges[threadIdx.x] = read_header(wires[first_wire + threadIdx.x]);
      shared_.wrong[threadIdx.x] = 0;
    }
    __syncthreads();
    for (unsigned at = threadIdx.x; at < 256 * count; at += kThreads) {
      const Decoder decoder(shared_.ranges[at / 256]);
      if (decoder.fast && !decoder.agrees(at % 256)) atomicOr(&shared_.wrong[at / 256], 1);
    }
    __syncthreads();
  }

  template <int kWords, class Index>
  static __device__ __forceinline__ void add(float4 (&v)[kWords], const std::byte* wire,
                                             const Decoder& decoder, bool is_first, Index first,
                                             Index end) {
    const std::byte* codes = wire + kHeaderBytes;
    const bool aligned = is_aligned(codes, 4);
    const auto each = [&](const auto& decode) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        const Index w = first + i * kThreads + threadIdx.x;
        if (w >= end) continue;
        const float4 x = decode(load_codes(codes, w, aligned));
        v[i] = is_first ? x : sum_of(x, v[i]);
      }
    };
    if (decoder.fast) each([&](std::uint32_t c) { return decoder.fast_word(c); });
    else each([&](std::uint32_t c) { return decoder.word(c); });
  }

  Shared& shared_;
};

}  // namespace trigram::cuda::minmax_uint8
