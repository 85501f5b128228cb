#pragma once

#include <vector>

#include "cuda/kernels/codecs/minmax_uint8.h"

namespace trigram::cuda::minmax_uint8 {

/// Chunks, by the way in which they are to be coded.
struct Ways {
  std::vector<Chunk> in_warps, in_clusters, in_tiles;
  unsigned blocks = 1;    // of a cluster
  unsigned clusters = 0;  // side by side
};

/// The ways for the current GPU.
Ways choose_ways(const std::vector<Chunk>& chunks, bool mean);

/// Multiprocessors of the current GPU.
unsigned multiprocessors();

}  // namespace trigram::cuda::minmax_uint8
