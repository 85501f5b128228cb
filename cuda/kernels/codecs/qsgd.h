#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/codecs/qsgd_kernels.h"
#include "core/random/philox.h"
#include "cuda/kernels/codecs/tables.h"

/// The kernels of the codec `qsgd` (core/codecs/qsgd.cpp gives formula and wire format), for many
/// chunks at once. The buckets of all chunks are numbered consecutively.
namespace trigram::cuda::qsgd {

using trigram::qsgd::Format;

struct Chunk {
  float* x;  // input of encode, output of decode
  std::byte* wire;
  std::size_t numel;
  std::uint32_t first_tile;   // number of buckets of the chunks before it
  std::uint32_t first_block;  // number of the chunk's first block of random numbers
};

struct Batch {
  Table<Chunk, 64> chunks;
  std::uint32_t count;
  std::uint32_t buckets;
  Format format;
  Philox::Key key;
  Philox::Block counter;
};

/// Device memory for encoding. Not needed if a bucket has at most fixed_sums::kTile elements.
struct Scratch {
  double* totals = nullptr;             // one per tile of every bucket
  std::uint32_t* magnitudes = nullptr;  // one per bucket, zeroed
};
bool needs_scratch(const Format& format);
std::size_t tiles_of_bucket(const Format& format);

void encode(cudaStream_t stream, const Batch& batch, const Scratch& scratch);
void decode(cudaStream_t stream, const Batch& batch);

}  // namespace trigram::cuda::qsgd
