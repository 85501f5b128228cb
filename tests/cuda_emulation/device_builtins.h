#pragma once

#include <cstring>
#include <type_traits>

#include "tests/cuda_emulation/vector_types.h"

/// The environment of kernels: qualifiers of functions and memory, thread indices, and
/// synchronisation of threads.

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// All blocks share these variables, which is correct if blocks run one after the other. Kernels for
// clusters, whose blocks run concurrently, must use dynamic shared memory, of which every block has
// its own.
#define __shared__ static

// The indices of the running thread.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

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

/// Waits at the barrier of a block. Returns the number of threads whose predicate is true.
int block_barrier(bool predicate, const Site& site);

/// A collective operation of the lanes of a warp that are in `mask`; all of them must call the same
/// operation. Each lane passes its bits. A shuffle returns the bits of lane `source`. A ballot
/// ignores `source` and returns the lowest bits of all lanes as a mask.
enum class WarpOp { shuffle, ballot };
unsigned long long warp_operation(WarpOp op, unsigned mask, unsigned long long bits, int source,
                                  const Site& site);

unsigned lane();
/// Lets other threads run; for loops that wait for other blocks.
void yield(const Site& site);

template <class T>
T shuffle(unsigned mask, T value, int source, const Site& site) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp_operation(WarpOp::shuffle, mask, bits, source, site);
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
  cuda_emulation::block_barrier(false, site);
}
inline int __syncthreads_and(int predicate,
                             const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  return cuda_emulation::block_barrier(predicate != 0, site) == threads;
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
  return static_cast<unsigned>(cuda_emulation::warp_operation(cuda_emulation::WarpOp::ballot, mask,
                                                              predicate != 0, -1, site));
}

inline void __nanosleep(unsigned,
                        const cuda_emulation::Site& site = cuda_emulation::Site::current()) {
  cuda_emulation::yield(site);
}
inline void __threadfence() {}
// NOLINTEND(bugprone-reserved-identifier)
