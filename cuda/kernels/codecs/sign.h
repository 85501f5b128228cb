#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/kernels/codecs/table.h"

/// The kernels of the codec `sign` (core/codecs/sign.cpp gives formula and wire format), for many
/// chunks at once.
namespace trigram::cuda::sign {

enum class Scale : int { l2, l1_mean, one, means };

struct Chunk {
  float* x;         // read to encode, written to decode
  float* residual;  // or null: no feedback
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

/// What one block handles.
inline constexpr std::size_t kTile = 16 * 1024;
/// Room for the sums of one tile.
inline constexpr std::size_t kTileBytes = 16 * sizeof(double);
/// How many sums there are: with means, of what is not below zero, of what is, and how many those
/// are.
constexpr std::size_t sums_of(Scale scale) { return scale == Scale::means ? 3 : 1; }

/// `totals`: kTileBytes for every tile and sum.
void encode(cudaStream_t stream, const Batch& batch, double* totals, bool feedback);
void decode(cudaStream_t stream, const Batch& batch);

}  // namespace trigram::cuda::sign
