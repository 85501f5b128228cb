#pragma once

#include <vector>

#include "cuda/kernels/codecs/minmax_uint8.h"

namespace trigram::cuda::minmax_uint8 {

/// Chunks, grouped by the kernel that encodes them.
struct EncodingPlan {
  std::vector<Chunk> in_warps, in_clusters, in_tiles;
  unsigned blocks = 1;    // blocks per cluster
  unsigned clusters = 0;  // number of clusters that run concurrently
};

/// Groups chunks for the current GPU.
EncodingPlan plan_encoding(const std::vector<Chunk>& chunks, bool mean);

/// Number of multiprocessors of the current GPU.
unsigned multiprocessors();

}  // namespace trigram::cuda::minmax_uint8
