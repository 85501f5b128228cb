#pragma once

#include <cstring>
#include <type_traits>

#include "tests/cuda_emulation/vector_types.h"

/// The environment of kernels: markings of functions and memory, thread indices, and
/// synchronisation of threads.

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __constant__ static
// All blocks share this memory and run one after the other. Kernels whose blocks run concurrently
// (clusters, cooperative grids) must use the dynamic shared memory, which every block has
// separately.
#define __shared__ static

// The indices of the running thread. Set by the emulation.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace cuda_emulation {

/// A source location. It replaces std::source_location, which clang-tidy 14 does not know.
class Site {
 public:
  static constexpr Site current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    Site site;
    site.file_ = file;
    site.line_ = line;
    return site;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  const char* file_ = "";
  int line_ = 0;
};

/// The dynamic shared memory of the running thread's block.
void* dynamic_shared();

enum class Reduction { none, count, all, any };
/// The barrier of a block, which can also reduce a predicate.
int block_barrier(Reduction reduction, bool predicate, const Site& site);

/// The collective operations of a warp's lanes. Each lane contributes its bits, and gives the
/// number of the lane whose bits it wants (-1: none). All lanes of `mask` must call the same
/// operation.
enum class WarpOp { sync, shuffle, ballot };
unsigned long long meet_in_warp(WarpOp op, unsigned mask, unsigned long long bits, int source,
                                const Site& site);

unsigned lane();
/// Lets other threads run; for loops that wait for other blocks.
void yield(const Site& site);

template <class T>
T shuffle(unsigned mask, T value, int source, const Site& site) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = meet_in_warp(WarpOp::shuffle, mask, bits, source, site);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// The number of lane `target` within this lane's segment of `width` lanes, or of this lane itself
/// if `target` is outside the segment.
inline int in_segment(int target, int width) {
  const int own = static_cast<int>(lane());
  return target / width == own / width && target >= 0 ? target : own;
}

}  // namespace cuda_emulation

inline void __syncthreads(const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  cuda_emulation::block_barrier(cuda_emulation::Reduction::none, false, site);
}
inline int __syncthreads_count(int predicate,
                               const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  return cuda_emulation::block_barrier(cuda_emulation::Reduction::count, predicate != 0, site);
}
inline int __syncthreads_and(int predicate,
                             const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  return cuda_emulation::block_barrier(cuda_emulation::Reduction::all, predicate != 0, site);
}
inline int __syncthreads_or(int predicate,
                            const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  return cuda_emulation::block_barrier(cuda_emulation::Reduction::any, predicate != 0, site);
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFF,
                       const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  cuda_emulation::meet_in_warp(cuda_emulation::WarpOp::sync, mask, 0, -1, site);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  const int first = static_cast<int>(cuda_emulation::lane()) / width * width;
  return cuda_emulation::shuffle(mask, value, first + source % width, site);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32,
                  const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  const int target = static_cast<int>(cuda_emulation::lane()) ^ bits;
  return cuda_emulation::shuffle(mask, value, cuda_emulation::in_segment(target, width), site);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  const int target = static_cast<int>(cuda_emulation::lane() + delta);
  return cuda_emulation::shuffle(mask, value, cuda_emulation::in_segment(target, width), site);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  const int target = static_cast<int>(cuda_emulation::lane()) - static_cast<int>(delta);
  return cuda_emulation::shuffle(mask, value, cuda_emulation::in_segment(target, width), site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  return static_cast<unsigned>(
      cuda_emulation::meet_in_warp(cuda_emulation::WarpOp::ballot, mask, predicate != 0, -1, site));
}
inline int __any_sync(unsigned mask, int predicate,
                      const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  return __ballot_sync(mask, predicate, site) != 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  return __ballot_sync(mask, predicate, site) == mask;
}

inline void __nanosleep(unsigned,
                        const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  cuda_emulation::yield(site);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
// NOLINTEND(bugprone-reserved-identifier)
