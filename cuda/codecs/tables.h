#pragma once

#include <algorithm>
#include <vector>

#include "core/device.h"
#include "cuda/kernels/codecs/tables.h"

namespace trigram::cuda {

/// Makes `table` hold `items`. If they fit into the table itself, returns an empty tensor;
/// otherwise, returns the device memory to which the table refers. The caller keeps that memory
/// until the kernel is queued.
template <class T, int kCapacity>
Tensor set_table(Table<T, kCapacity>& table, const std::vector<T>& items, Device& device) {
  if (items.size() <= kCapacity) {
    std::ranges::copy(items, table.items);
    table.device_items = nullptr;
    return {};
  }
  const Tensor memory = device.empty(items.size() * sizeof(T), DType::u8);
  device.upload(memory, items);
  table.device_items = reinterpret_cast<const T*>(memory.data());
  return memory;
}

/// Sets `first_tile` of chunks that are cut into tiles of `tile` elements. Returns the number of
/// tiles of all chunks.
template <class Chunk>
std::uint32_t assign_first_tiles(std::vector<Chunk>& chunks, std::size_t tile) {
  std::uint32_t tiles = 0;
  for (Chunk& chunk : chunks) {
    chunk.first_tile = tiles;
    tiles += tiles_of(chunk.numel, tile);
  }
  return tiles;
}

}  // namespace trigram::cuda
