#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/kernels/block_sum.h"

namespace trigram::cuda {

/// The `kept` elements with the largest magnitudes, of equal ones the first, of a chunk that the
/// kThreads threads of a block handle. A thread has kPerThread neighbouring elements, so that
/// chosen elements stay in order. All threads of the block make one together.
template <unsigned kThreads, unsigned kPerThread>
class ChunkSelection {
 public:
  struct Counts {
    std::uint32_t above, ties;
  };
  /// Shared memory of a block.
  struct Shared {
    std::uint32_t warps[kThreads / 32];
    Counts by_thread[kThreads];
  };

  /// The chunk has `numel` elements, and `kept` > 0 of them are kept.
  __device__ __forceinline__ ChunkSelection(const float* chunk, unsigned numel, unsigned kept,
                                            Shared& shared) {
    const unsigned begin = threadIdx.x * kPerThread;
    count_ = begin < numel ? min(kPerThread, numel - begin) : 0;
    for (unsigned i = 0; i < count_; ++i)
      magnitudes_[i] = __float_as_uint(chunk[begin + i]) & 0x7FFFFFFF;
    least_ = bound_of(kept, shared.warps);
    most_ = bound_of(1, shared.warps);
    shared.by_thread[threadIdx.x] = counts(least_);
    ties_ = kept - block_sum<kThreads>(shared.by_thread[threadIdx.x].above, shared.warps);
    before_ = {0, 0};
    for (unsigned thread = 0; thread < threadIdx.x; ++thread) {
      before_.above += shared.by_thread[thread].above;
      before_.ties += shared.by_thread[thread].ties;
    }
  }
  /// The smallest and the largest magnitude of the kept elements.
  __device__ __forceinline__ float least() const { return __uint_as_float(least_); }
  __device__ __forceinline__ float most() const { return __uint_as_float(most_); }

  /// Calls each(position, index) for the kept elements of this thread, where `position` counts the
  /// kept elements of the chunk.
  template <class Each>
  __device__ __forceinline__ void for_each(const Each& each) const {
    Counts before = before_;
    for (unsigned i = 0; i < count_; ++i) {
      const bool above = magnitudes_[i] > least_, tie = magnitudes_[i] == least_;
      if (above || (tie && before.ties < ties_))
        each(before.above + min(before.ties, ties_), threadIdx.x * kPerThread + i);
      before.above += above;
      before.ties += tie;
    }
  }

 private:
  __device__ __forceinline__ Counts counts(std::uint32_t bound) const {
    Counts found = {0, 0};
    for (unsigned i = 0; i < count_; ++i) {
      found.above += magnitudes_[i] > bound;
      found.ties += magnitudes_[i] == bound;
    }
    return found;
  }
  /// The greatest bound that at least `kept` magnitudes of the chunk reach, bit by bit.
  __device__ __forceinline__ std::uint32_t bound_of(unsigned kept, std::uint32_t* warps) const {
    std::uint32_t bound = 0;
    for (int bit = 30; bit >= 0; --bit) {
      const std::uint32_t candidate = bound | 1u << bit;
      const Counts found = counts(candidate);
      if (block_sum<kThreads>(found.above + found.ties, warps) >= kept) bound = candidate;
    }
    return bound;
  }

  std::uint32_t magnitudes_[kPerThread];
  unsigned count_;
  std::uint32_t least_, most_, ties_;  // ties: elements of magnitude least_ that are kept
  Counts before_;                      // in the elements of earlier threads
};

}  // namespace trigram::cuda
