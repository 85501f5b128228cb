#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace trigram::cuda {

/// A list as a kernel parameter. Up to kCapacity items are stored in the table itself, longer lists
/// in device memory.
template <class T, int kCapacity>
struct Table {
  T items[kCapacity];
  const T* device_items = nullptr;  // null if `items` has the list

  __device__ __forceinline__ const T& operator[](unsigned i) const {
    return device_items ? device_items[i] : items[i];
  }
};

// Chunks of any lengths are cut into tiles of equal length, which are numbered consecutively.

/// The number of tiles of a chunk: at least one, so that some block writes its header.
__host__ __device__ constexpr std::uint32_t tiles_of(std::uint64_t numel, std::uint64_t tile) {
  return numel == 0 ? 1 : static_cast<std::uint32_t>((numel + tile - 1) / tile);
}

/// The chunk that contains `tile`: the last chunk that begins no later.
template <class Chunks>
__device__ __forceinline__ unsigned chunk_of_tile(const Chunks& chunks, unsigned count,
                                                  std::uint32_t tile) {
  unsigned low = 0, high = count;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (chunks[middle].first_tile <= tile) low = middle;
    else high = middle;
  }
  return low;
}

}  // namespace trigram::cuda
