#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/kernels/codecs/table.h"

/// The kernels of MinMaxUInt8 (core/codecs/minmax_uint8.h gives formula and wire format). Each
/// launch codes or decodes many chunks, of any lengths.
namespace trigram::cuda::minmax_uint8 {

/// What is to be coded: the vector x; or, where x is null, the mean of the batch's next wires, from
/// `first_wire` on, added in that order. With a residual e, x + e (or mean + e) is coded, and e
/// becomes what that loses.
struct Chunk {
  const float* x;
  float* residual;
  std::byte* wire;
  std::size_t numel;
  std::uint32_t first_tile;  // tiles of the chunks before it
  std::uint32_t first_wire;
};

struct Batch {
  Table<Chunk, 32> chunks;
  Table<const std::byte*, 64> wires;  // of the means
  std::uint32_t count;                // of chunks
  std::uint32_t of_mean = 0;          // wires of each mean
  float scale = 1;                    // 1 / of_mean
  std::uint32_t tiles = 0;
};

/// The three ways to encode: what fits into a few blocks' registers is read once; what is larger is
/// read again, from the second-level cache as far as it reaches; of small chunks a block takes
/// many. Means have no third way.

/// A cluster of up to eight blocks holds a chunk.
inline constexpr std::uint64_t kBlockCapacity = 512 * 20 * 4;
inline constexpr unsigned kMaxCluster = 8;
/// A warp holds a small chunk.
inline constexpr std::uint64_t kWarpCapacity = 32 * 16 * 4;
/// The larger ones are cut into tiles.
inline constexpr std::uint64_t kTile = 256 * 8 * 4;

/// One way's launch of all chunks of `batch`, each of at most `blocks` times the capacity.
void encode_in_clusters(cudaStream_t stream, const Batch& batch, unsigned blocks, unsigned clusters,
                        bool mean, bool feedback);
void encode_in_warps(cudaStream_t stream, const Batch& batch, bool feedback);
/// `state`: as many bytes as `tile_state_bytes` says, zeroed. The blocks' reading for ranges goes
/// `lead` tiles ahead of their coding: at least as many as the longest chunk has, at most all.
void encode_in_tiles(cudaStream_t stream, const Batch& batch, void* state, std::uint32_t lead,
                     unsigned blocks, bool mean, bool feedback);
std::size_t tile_state_bytes(std::uint32_t chunks);
/// Blocks that one multiprocessor runs side by side.
unsigned resident_tile_blocks(bool mean, bool feedback);

/// How many clusters of `blocks` blocks run side by side on the current GPU: 0 where it has no such
/// clusters, or too little shared memory.
unsigned resident_clusters(unsigned blocks);

/// Where what is decoded goes: `x`, and in the batch `first_wire` and `of_mean`: the mean of wires.
/// A single wire is a mean of one.
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
  std::uint32_t of_mean = 1;
  float scale = 1;
  std::uint32_t tiles = 0;
};

void decode(cudaStream_t stream, const DecodeBatch& batch);
inline constexpr std::uint64_t kDecodeTile = 256 * 8 * 4;

}  // namespace trigram::cuda::minmax_uint8
