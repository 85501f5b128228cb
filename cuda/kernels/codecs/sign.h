#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/kernels/codecs/tables.h"

/// The kernels of the codec `sign` (core/codecs/sign.cpp gives formula and wire format), for many
/// chunks at once.
namespace trigram::cuda::sign {

enum class Scale : int { l2, l1_mean, one, means };

struct Chunk {
  float* x;         // input of encode, output of decode
  float* residual;  // null without feedback
  std::byte* wire;
  std::size_t numel;
  std::uint32_t first_tile;
};

struct Batch {
  Table<Chunk, 64> chunks;
  std::uint32_t count;
  std::uint32_t tiles;
  Scale scale;
};

/// Elements that one block handles.
inline constexpr std::size_t kTile = 16 * 1024;
/// Bytes for each sum of a tile: one f64 per team.
inline constexpr std::size_t kTileBytes = 16 * sizeof(double);
/// The number of sums per tile. For means these are the sum of non-negative elements, the sum of
/// negative elements, and the number of negative elements.
constexpr std::size_t sums_of(Scale scale) { return scale == Scale::means ? 3 : 1; }

/// `totals` must have kTileBytes for every tile and sum.
void encode(cudaStream_t stream, const Batch& batch, double* totals, bool feedback);
void decode(cudaStream_t stream, const Batch& batch);

}  // namespace trigram::cuda::sign
