#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/kernels/codecs/tables.h"

/// The kernels of MinMaxUInt8 (core/codecs/minmax_uint8.h gives formula and wire format). Each
/// launch encodes or decodes many chunks of any length.
namespace trigram::cuda::minmax_uint8 {

/// A vector to encode. The vector is x or, if x is null, the mean of the batch's `wires_per_mean`
/// wires from `first_wire` on, added in that order. With a residual e, x + e (or mean + e) is
/// encoded, and e becomes the encoding error.
struct Chunk {
  const float* x;
  float* residual;
  std::byte* wire;
  std::size_t numel;
  std::uint32_t first_tile;  // number of tiles of the chunks before it
  std::uint32_t first_wire;
};

struct Batch {
  Table<Chunk, 32> chunks;
  Table<const std::byte*, 64> wires;  // inputs of means
  std::uint32_t count;                // number of chunks
  std::uint32_t wires_per_mean = 0;   // number of wires of each mean
  float scale = 1;                    // 1 / wires_per_mean
  std::uint32_t tiles = 0;
};

// There are three ways to encode. `encode_in_clusters` keeps a chunk in the registers of a few
// blocks, so it is read once. `encode_in_tiles` reads a chunk of any length twice; the second time,
// as much as possible comes from the L2 cache. `encode_in_warps` encodes many small chunks per
// block, but no means.

/// Elements that the registers of a block can hold; a cluster of up to eight blocks holds a chunk.
inline constexpr std::uint64_t kBlockCapacity = 512 * 20 * 4;
inline constexpr unsigned kMaxCluster = 8;
/// Elements that the registers of a warp can hold.
inline constexpr std::uint64_t kWarpCapacity = 32 * 16 * 4;
/// Elements in each of the tiles into which `encode_in_tiles` cuts a chunk.
inline constexpr std::uint64_t kTile = 256 * 8 * 4;

/// These functions encode all chunks of `batch` in one launch, with residuals if `feedback` is
/// true. Here each chunk must fit into a cluster of `blocks` blocks; `clusters` is the number of
/// clusters to launch.
void encode_in_clusters(cudaStream_t stream, const Batch& batch, unsigned blocks, unsigned clusters,
                        bool mean, bool feedback);
/// Each chunk must fit into a warp.
void encode_in_warps(cudaStream_t stream, const Batch& batch, bool feedback);
/// `state` has tile_state_bytes() bytes, zeroed. The search for ranges is `lead` tiles ahead of the
/// encoding; `lead` must be at least the number of tiles of the longest chunk, and at most the
/// number of all tiles.
void encode_in_tiles(cudaStream_t stream, const Batch& batch, void* state, std::uint32_t lead,
                     unsigned blocks, bool mean, bool feedback);
std::size_t tile_state_bytes(std::uint32_t chunks);
/// The number of blocks of `encode_in_tiles` that one multiprocessor runs concurrently.
unsigned resident_tile_blocks(bool mean, bool feedback);

/// The number of clusters of `blocks` blocks that run concurrently on the current GPU; 0 if it does
/// not support such clusters or has too little shared memory.
unsigned resident_clusters(unsigned blocks);

/// A vector to decode. `x` becomes the mean of the batch's `wires_per_mean` wires from `first_wire`
/// on; with one wire per mean, the vector on that wire.
struct Decoded {
  float* x;
  std::size_t numel;
  std::uint32_t first_tile;
  std::uint32_t first_wire;
};

struct DecodeBatch {
  Table<Decoded, 64> chunks;
  Table<const std::byte*, 64> wires;
  std::uint32_t count;
  std::uint32_t wires_per_mean = 1;
  float scale = 1;
  std::uint32_t tiles = 0;
};

void decode(cudaStream_t stream, const DecodeBatch& batch);
inline constexpr std::uint64_t kDecodeTile = 256 * 8 * 4;

}  // namespace trigram::cuda::minmax_uint8
