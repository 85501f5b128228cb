#include "cuda/codecs/minmax_uint8_plan.h"

#include <algorithm>
#include <array>

#include "cuda/support/error.h"

namespace trigram::cuda::minmax_uint8 {
namespace {

constexpr std::array<unsigned, 4> kSizes = {1, 2, 4, kMaxCluster};

/// Number of clusters of `kSizes[i]` blocks that run concurrently.
unsigned resident(std::size_t i) {
  static const auto counts = [] {
    std::array<unsigned, kSizes.size()> all{};
    std::transform(kSizes.begin(), kSizes.end(), all.begin(), resident_clusters);
    return all;
  }();
  return counts[i];
}

/// The index in kSizes of the smallest cluster that holds `numel` elements; kSizes.size() if there
/// is none.
std::size_t smallest_for(std::uint64_t numel) {
  const std::uint64_t padded = (numel + 31) / 32 * 32;
  std::size_t i = 0;
  while (i < kSizes.size() && (resident(i) == 0 || padded > kSizes[i] * kBlockCapacity)) ++i;
  return i;
}

}  // namespace

unsigned multiprocessors() {
  static const unsigned count = [] {
    int device = 0, value = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    return static_cast<unsigned>(value);
  }();
  return count;
}

EncodingPlan plan_encoding(const std::vector<Chunk>& chunks, bool mean) {
  EncodingPlan plan;
  std::size_t size = 0;
  for (const Chunk& chunk : chunks) {
    const std::size_t needed = smallest_for(chunk.numel);
    if (!mean && chunk.numel <= kWarpCapacity) {
      plan.in_warps.push_back(chunk);
    } else if (needed == kSizes.size()) {
      plan.in_tiles.push_back(chunk);
    } else {
      plan.in_clusters.push_back(chunk);
      size = std::max(size, needed);
    }
  }
  if (plan.in_clusters.empty()) return plan;
  // If there are few chunks, larger clusters keep more of the GPU busy.
  const std::size_t count = plan.in_clusters.size();
  while (size + 1 < kSizes.size() && resident(size + 1) >= count) ++size;
  plan.blocks = kSizes[size];
  plan.clusters = static_cast<unsigned>(std::min<std::size_t>(count, resident(size)));
  return plan;
}

}  // namespace trigram::cuda::minmax_uint8
