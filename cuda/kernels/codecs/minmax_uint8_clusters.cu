#include <cuda_pipeline_primitives.h>

#include <cstddef>
#include <type_traits>

#include "cuda/kernels/cluster.h"
#include "cuda/kernels/codecs/minmax_uint8.h"
#include "cuda/kernels/codecs/minmax_uint8_ring.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::minmax_uint8 {
namespace {

constexpr unsigned kThreads = 512, kWarps = kThreads / 32;
constexpr int kWords = kBlockCapacity / kThreads / 4;  // words per thread

/// Data that are being loaded from device memory while a chunk is encoded: the next chunk, or the
/// first wires of the next mean. Every thread copies and reads only its own words.
union Staged {
  float4 words[kWords][kThreads];
  WireRing<kThreads, kWords> wires;
};
/// The dynamic shared memory of a block consists of Shared and then Staged.
struct Shared {
  // Extremes from the warps of all blocks of the cluster. Two buffers are enough, because no block
  // can be two chunks ahead of another.
  Extremes seen[2][kMaxCluster * kWarps];
  MeanReader<kThreads>::Shared mean;
};

/// The words of a chunk that one block of the cluster encodes.
struct Words {
  unsigned numel, begin, end;
  __device__ __forceinline__ Words(const Chunk& chunk, unsigned rank, unsigned size)
      : numel(static_cast<unsigned>(chunk.numel)) {
    const unsigned all = code_words(numel), per_block = (all + size - 1) / size;
    begin = min(all, rank * per_block);
    end = min(all, begin + per_block);
  }
  /// The i-th word of the running thread.
  __device__ __forceinline__ unsigned of_thread(int i) const {
    return begin + i * kThreads + threadIdx.x;
  }
  /// Makes the compiler recompute addresses later instead of keeping them in registers.
  __device__ __forceinline__ void forget_addresses() { asm volatile("" : "+r"(begin)); }
  __device__ __forceinline__ unsigned elements(unsigned w) const {
    return w < end ? elements_of_word(numel, w) : 0;
  }
};

__device__ __forceinline__ void stage_chunk(Staged& staged, const Chunk& chunk,
                                            const Words& words) {
  const bool aligned = is_aligned(chunk.x, 16);
#pragma unroll 4
  for (int i = 0; i < kWords; ++i) {
    const unsigned w = words.of_thread(i);
    const unsigned count = words.elements(w);
    if (count == 0) break;
    auto* to = reinterpret_cast<float*>(&staged.words[i][threadIdx.x]);
    const float* from = chunk.x + 4 * w;
    if (count == 4 && aligned) {
      __pipeline_memcpy_async(to, from, sizeof(float4));
    } else {
      for (unsigned k = 0; k < 4; ++k)
        __pipeline_memcpy_async(to + k, from + (k < count ? k : 0), sizeof(float));
    }
  }
  __pipeline_commit();
}

template <bool kMean>
__device__ __forceinline__ void stage(Staged& staged, const Batch& batch, const Chunk& chunk,
                                      const Words& words) {
  if (kMean)
    staged.wires.begin(batch.wires, chunk.first_wire, batch.wires_per_mean, words.begin, words.end);
  else stage_chunk(staged, chunk, words);
}

/// The extremes over the cluster. Every warp sends its extremes to every block.
__device__ __forceinline__ Extremes over_cluster(Extremes own, Extremes* seen, unsigned size) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  own = over_warp(own);
  if (lane < size) cluster::in_block(seen, lane)[cluster::rank() * kWarps + warp] = own;
  cluster::sync();
  Extremes all;
  for (unsigned i = lane; i < size * kWarps; i += 32) all.add(seen[i]);
  return over_warp(all);
}

/// Writes the codes of a block's words. If a decoder is given, also writes the encoding errors.
template <class Decode>
__device__ __forceinline__ void write_codes(const float4 (&v)[kWords], const Chunk& chunk,
                                            const Words& words, const Quantizer& quantizer,
                                            const Decode& decode) {
  std::byte* codes = chunk.wire + kHeaderBytes;
  const bool wire_aligned = is_aligned(codes, 4), aligned = is_aligned(chunk.residual, 16);
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const unsigned w = words.of_thread(i);
    if (w >= words.end) continue;
    const unsigned count = words.elements(w);
    const std::uint32_t word = quantizer.word(v[i], count);
    store_codes(codes, w, word, wire_aligned);
    if constexpr (!std::is_same_v<Decode, std::nullptr_t>)
      store_word(chunk.residual, w, difference_of(v[i], decode(word)), count, aligned);
  }
}

template <bool kMean, bool kFeedback>
__global__ void __launch_bounds__(kThreads, 1) encode_clusters(const Batch batch) {
  auto& shared = *dynamic_shared<Shared>();
  auto& staged = *reinterpret_cast<Staged*>(&shared + 1);
  const unsigned rank = cluster::rank(), size = cluster::size();
  const unsigned clusters = gridDim.x / size;
  unsigned at = blockIdx.x / size, turn = 0;
  const auto words_of = [&](unsigned i) { return Words(batch.chunks[i], rank, size); };
  if (at < batch.count) stage<kMean>(staged, batch, batch.chunks[at], words_of(at));
  cluster::sync();  // remote shared memory may be written only once all blocks run

  for (; at < batch.count; at += clusters, turn ^= 1) {
    const Chunk chunk = batch.chunks[at];
    Words words(chunk, rank, size);
    float4 v[kWords] = {};
    if (kMean) {
      staged.wires.read(v, MeanReader<kThreads>(shared.mean), batch.wires, chunk.first_wire,
                        batch.wires_per_mean, batch.scale, words.begin, words.end);
    } else {
      __pipeline_wait_prior(0);
    }
    Scan scan;
    const bool aligned = kFeedback && is_aligned(chunk.residual, 16);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const unsigned w = words.of_thread(i);
      const unsigned count = words.elements(w);
      if (count == 0) continue;
      if (!kMean) v[i] = staged.words[i][threadIdx.x];
      if (kFeedback) v[i] = sum_of(load_word(chunk.residual, w, count, aligned), v[i]);
      if (kMean && count < 4) {  // the padding of the wires counts as no element
        v[i].y = count > 1 ? v[i].y : v[i].x;
        v[i].z = count > 2 ? v[i].z : v[i].x;
        v[i].w = v[i].x;
      }
      scan.add(v[i]);
    }
    if (at + clusters < batch.count)
      stage<kMean>(staged, batch, batch.chunks[at + clusters], words_of(at + clusters));
    words.forget_addresses();
    const Range range = over_cluster(scan.result(), shared.seen[turn], size).range();
    const Quantizer quantizer(trigram::minmax_uint8::grid_of(range));

    if (rank == 0 && threadIdx.x < 8) write_header_word(chunk.wire, threadIdx.x, range);
    if constexpr (kFeedback) {
      const Decoder decoder(range);
      const bool agrees = threadIdx.x >= 256 || decoder.agrees(threadIdx.x);
      if (__syncthreads_and(decoder.fast && agrees)) {
        write_codes(v, chunk, words, quantizer,
                    [&](std::uint32_t word) { return decoder.fast_word(word); });
      } else {
        write_codes(v, chunk, words, quantizer,
                    [&](std::uint32_t word) { return decoder.word(word); });
      }
    } else {
      write_codes(v, chunk, words, quantizer, nullptr);
    }
  }
}

using Kernel = void (*)(Batch);

constexpr Kernel kKernels[2][2] = {{encode_clusters<false, false>, encode_clusters<false, true>},
                                   {encode_clusters<true, false>, encode_clusters<true, true>}};

constexpr std::size_t kSharedBytes = sizeof(Shared) + sizeof(Staged);

/// True if the blocks of the GPU have enough shared memory for the kernels. If so, also allows the
/// kernels to use it.
bool has_shared_memory() {
  static const bool has = [] {
    const int available = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (static_cast<std::size_t>(available) < kSharedBytes) return false;
    for (const auto& kernels : kKernels)
      for (const Kernel kernel : kernels) allow_shared_bytes(kernel, kSharedBytes);
    return true;
  }();
  return has;
}

/// True if the running code supports clusters. cluster.h decides this by __CUDA_ARCH__, and a
/// kernel's PTX version tells for which __CUDA_ARCH__ it was compiled. The binary's version does
/// not: if the driver of a Hopper GPU compiles PTX for compute_80, the binary is for
/// 90, but each block still counts as a cluster.
bool code_has_clusters() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kKernels[0][0]), "cudaFuncGetAttributes");
  return attributes.ptxVersion >= 90;
}

}  // namespace

unsigned resident_clusters(unsigned blocks) {
  if (!has_shared_memory()) return 0;
  int count = 0;
  if (blocks == 1) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kKernels[0][0], kThreads,
                                                        kSharedBytes),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return static_cast<unsigned>(count * device_attribute(cudaDevAttrMultiProcessorCount));
  }
  if (device_attribute(cudaDevAttrClusterLaunch) == 0 || !code_has_clusters()) return 0;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {blocks, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = kThreads;
  config.dynamicSmemBytes = kSharedBytes;
  config.attrs = &cluster;
  config.numAttrs = 1;
  check(cudaOccupancyMaxActiveClusters(&count, kKernels[0][0], &config),
        "cudaOccupancyMaxActiveClusters");
  return static_cast<unsigned>(count);
}

void encode_in_clusters(cudaStream_t stream, const Batch& batch, unsigned blocks, unsigned clusters,
                        bool mean, bool feedback) {
  launch(stream,
         {.grid = blocks * clusters,
          .block = kThreads,
          .shared_bytes = kSharedBytes,
          .cluster = blocks},
         kKernels[mean][feedback], batch);
}

}  // namespace trigram::cuda::minmax_uint8
