#pragma once

#include <algorithm>
#include <vector>

#include "core/device.h"
#include "cuda/kernels/codecs/tables.h"

namespace trigram::cuda {

/// Makes `table` list `items`. If they do not fit into the table itself, returns the device memory
/// that the table refers to; the caller keeps it until the kernel is queued.
template <class T, int kOwn>
Tensor set_table(Table<T, kOwn>& table, const std::vector<T>& items, Device& device) {
  if (items.size() <= Table<T, kOwn>::kCapacity) {
    std::copy(items.begin(), items.end(), table.own);
    table.longer = nullptr;
    return {};
  }
  const Tensor room = device.empty(items.size() * sizeof(T), DType::u8);
  device.upload(room, items);
  table.longer = reinterpret_cast<const T*>(room.data());
  return room;
}

/// Sets `first_tile` of chunks that are cut into tiles of `tile` elements. Returns the number of
/// tiles of all chunks.
template <class Chunk>
std::uint32_t number_tiles(std::vector<Chunk>& chunks, std::size_t tile) {
  std::uint32_t tiles = 0;
  for (Chunk& chunk : chunks) {
    chunk.first_tile = tiles;
    tiles += tiles_of(chunk.numel, tile);
  }
  return tiles;
}

}  // namespace trigram::cuda
