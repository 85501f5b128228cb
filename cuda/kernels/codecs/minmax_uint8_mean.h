#pragma once

#include "cuda/kernels/codecs/minmax_uint8_math.h"

namespace trigram::cuda::minmax_uint8 {

/// Sets all sums to -0, because -0 + x is x for every x; +0 would change -0.
template <int kWords>
__device__ __forceinline__ void clear(float4 (&v)[kWords]) {
#pragma unroll
  for (int i = 0; i < kWords; ++i) v[i] = {-0.0f, -0.0f, -0.0f, -0.0f};
}

/// Computes means of wires, word by word, with all threads of a block. Shared memory contains the
/// decoders of a few wires at a time.
template <unsigned kThreads>
class MeanReader {
 public:
  static constexpr unsigned kWires = 16;
  struct Shared {
    Range ranges[kWires];
    int differs[kWires];  // nonzero if `product` differs from `quotient` for some code
  };

  __device__ __forceinline__ explicit MeanReader(Shared& shared) : shared_(shared) {}

  /// v[i] = scale * the sum over the wires of word first + i * kThreads + threadIdx.x, if that
  /// index is below `end`; otherwise unspecified. All threads of the block must call it.
  template <int kWords, class Wires, class Index>
  __device__ __forceinline__ void read(float4 (&v)[kWords], const Wires& wires, unsigned first_wire,
                                       unsigned count, float scale, Index first, Index end) {
    clear(v);
    // Relative indices fit in 32 bits and need fewer registers.
    const unsigned here =
        first < end ? static_cast<unsigned>(min(end - first, Index{kWords * kThreads})) : 0;
    for_each_wire(wires, first_wire, count, [&](unsigned k, const Decoder& decoder) {
      if (here > 0) add(v, wires[first_wire + k] + kHeaderBytes + 4 * first, decoder, here);
    });
#pragma unroll
    for (int i = 0; i < kWords; ++i) v[i] = scaled(scale, v[i]);
  }

  /// Calls body(k, decoder) for the wires first_wire + k, for k = 0 .. count - 1 in this order. All
  /// threads of the block must call it.
  template <class Wires, class Body>
  __device__ __forceinline__ void for_each_wire(const Wires& wires, unsigned first_wire,
                                                unsigned count, const Body& body) {
    for (unsigned begin = 0; begin < count; begin += kWires) {
      const unsigned here = min(count - begin, kWires);
      prepare(wires, first_wire + begin, here);
      for (unsigned k = 0; k < here; ++k) {
        Decoder decoder(shared_.ranges[k]);
        decoder.fast = decoder.fast && shared_.differs[k] == 0;
        body(begin + k, decoder);
      }
      __syncthreads();
    }
  }

 private:
  template <class Wires>
  __device__ __forceinline__ void prepare(const Wires& wires, unsigned first_wire, unsigned count) {
    if (threadIdx.x < count) {
      shared_.ranges[threadIdx.x] = read_header(wires[first_wire + threadIdx.x]);
      shared_.differs[threadIdx.x] = 0;
    }
    __syncthreads();
    for (unsigned at = threadIdx.x; at < 256 * count; at += kThreads) {
      const Decoder decoder(shared_.ranges[at / 256]);
      if (decoder.fast && !decoder.agrees(at % 256)) atomicOr(&shared_.differs[at / 256], 1);
    }
    __syncthreads();
  }

  /// Adds the first `count` > 0 words of a wire. All words are loaded before the first one is used,
  /// and no branch depends on a load: a thread without a word loads the last word and ignores it.
  /// The registers for this may reduce the number of blocks per multiprocessor, but the memory
  /// latency is hidden by loads in flight, not by the number of threads.
  template <int kWords>
  static __device__ __forceinline__ void add(float4 (&v)[kWords], const std::byte* codes,
                                             const Decoder& decoder, unsigned count) {
    std::uint32_t c[kWords];
    const auto load = [&](bool aligned) {
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        c[i] = load_codes(codes, min(i * kThreads + threadIdx.x, count - 1), aligned);
    };
    if (is_aligned(codes, 4)) load(true);
    else load(false);
    const auto add_words = [&](const auto& decode) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) v[i] = sum_of(decode(c[i]), v[i]);
    };
    if (decoder.fast) add_words([&](std::uint32_t word) { return decoder.fast_word(word); });
    else add_words([&](std::uint32_t word) { return decoder.word(word); });
  }

  Shared& shared_;
};

}  // namespace trigram::cuda::minmax_uint8
