#include "cuda/kernels/codecs/minmax_uint8.h"
#include "cuda/kernels/codecs/minmax_uint8_mean.h"
#include "cuda/kernels/codecs/tables.h"
#include "cuda/support/launch.h"

// Encodes chunks of any length. They are read twice: first to find their range, then to write their
// codes. The second time they come from the L2 cache if they fit there. Both happen in one launch
// without a barrier. Blocks draw tickets for tasks of one tile each. The tasks are ordered such
// that the codes of a tile come after the ranges of all tiles of its chunk. So if a block waits, it
// waits for tasks that other blocks have already started and that wait for nothing. The launch
// completes however few blocks the GPU runs at once.

namespace trigram::cuda::minmax_uint8 {
namespace {

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
constexpr int kWords = kTile / kThreads / 4;  // words per thread

/// The extremes of the tiles of a chunk so far. They are integers that have the same order as the
/// values (`low` is inverted, so that it grows, too). 0 is below all of them, so zeroed memory is
/// the initial state.
struct Progress {
  std::uint32_t inverted_low, high;
  std::uint32_t done;  // number of tiles that these extremes include
  std::uint32_t unused;
};

/// The state of a launch in device memory.
struct State {
  std::uint32_t ticket, unused[3];
  Progress chunks[1];  // one per chunk
};

__device__ __forceinline__ std::uint32_t to_ordered(float x) {
  const std::uint32_t bits = __float_as_uint(x);
  return bits ^ (bits >> 31 ? 0xFFFFFFFF : 0x80000000);
}
__device__ __forceinline__ float from_ordered(std::uint32_t key) {
  return __uint_as_float(key ^ (key >> 31 ? 0x80000000 : 0xFFFFFFFF));
}

/// Task number `ticket` of 2 * tiles tasks: a task finds the range of a tile, or writes its codes.
/// First come the ranges of `lead` tiles, then codes and ranges in turn, then the remaining codes.
/// If a chunk has at most `lead` tiles, all its ranges come before its first codes.
struct Task {
  bool is_range;
  std::uint32_t tile;
  __device__ __forceinline__ Task(std::uint32_t ticket, std::uint32_t tiles, std::uint32_t lead) {
    if (ticket < lead) {
      is_range = true;
      tile = ticket;
    } else if (ticket < 2 * tiles - lead) {
      const std::uint32_t turn = ticket - lead;
      is_range = turn % 2 == 1;
      tile = is_range ? lead + turn / 2 : turn / 2;
    } else {
      is_range = false;
      tile = ticket - tiles;
    }
  }
};

struct Shared {
  MeanReader<kThreads>::Shared mean;
  Extremes seen[kWarps];
  std::uint32_t ticket;
  Range range;
};

/// The words of a tile, from the vector or from the wires, plus the residual.
template <bool kMean, bool kFeedback>
__device__ __forceinline__ void read(float4 (&v)[kWords], const Batch& batch, const Chunk& chunk,
                                     std::size_t first, Shared& shared) {
  if (kMean) {
    MeanReader<kThreads>(shared.mean)
        .read(v, batch.wires, chunk.first_wire, batch.wires_per_mean, batch.scale, first,
              (std::size_t{chunk.numel} + 3) / 4);
  }
  const bool aligned = is_aligned(chunk.x, 16), e_aligned = is_aligned(chunk.residual, 16);
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const std::size_t w = first + i * kThreads + threadIdx.x;
    const unsigned count = elements_of_word(chunk.numel, w);
    if (count == 0) continue;
    if (!kMean) v[i] = load_word(chunk.x, w, count, aligned);
    if (kFeedback) v[i] = sum_of(load_word(chunk.residual, w, count, e_aligned), v[i]);
    if (kMean && count < 4) {  // the padding of the wires counts as no element
      v[i].y = count > 1 ? v[i].y : v[i].x;
      v[i].z = count > 2 ? v[i].z : v[i].x;
      v[i].w = v[i].x;
    }
  }
}

__device__ __forceinline__ void find_range(const float4 (&v)[kWords], const Chunk& chunk,
                                           std::size_t first, Shared& shared, Progress& progress) {
  Scan scan;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const std::size_t w = first + i * kThreads + threadIdx.x;
    if (elements_of_word(chunk.numel, w) > 0) scan.add(v[i]);
  }
  Extremes own = over_warp(scan.result());
  if (threadIdx.x % 32 == 0) shared.seen[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (unsigned i = 1; i < kWarps; ++i) own.add(shared.seen[i]);
  if (own.low <= own.high) {
    atomicMax(&progress.inverted_low, ~to_ordered(own.low));
    atomicMax(&progress.high, to_ordered(own.high));
  }
  __threadfence();
  atomicAdd(&progress.done, 1);
}

/// Waits until the ranges of all tiles of the chunk are known. Returns the range of the chunk.
__device__ __forceinline__ Range await_range(Progress& progress, const Chunk& chunk,
                                             Shared& shared) {
  if (threadIdx.x == 0) {
    const std::uint32_t tiles = tiles_of(chunk.numel, kTile);
    while (atomicAdd(&progress.done, 0) < tiles) __nanosleep(64);
    __threadfence();
    Extremes all;
    if (chunk.numel > 0) {
      all.low = from_ordered(~atomicAdd(&progress.inverted_low, 0));
      all.high = from_ordered(atomicAdd(&progress.high, 0));
    }
    shared.range = all.range();
  }
  __syncthreads();
  return shared.range;
}

template <bool kFeedback>
__device__ __forceinline__ void write_codes(const float4 (&v)[kWords], const Chunk& chunk,
                                            std::size_t first, const Range& range) {
  const Quantizer quantizer(trigram::minmax_uint8::grid_of(range));
  Decoder decoder(range);
  if (kFeedback)
    decoder.fast = __syncthreads_and(!decoder.fast || decoder.agrees(threadIdx.x)) && decoder.fast;
  std::byte* codes = chunk.wire + kHeaderBytes;
  const bool wire_aligned = is_aligned(codes, 4), aligned = is_aligned(chunk.residual, 16);
  if (first == 0 && threadIdx.x < 8) write_header_word(chunk.wire, threadIdx.x, range);
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const std::size_t w = first + i * kThreads + threadIdx.x;
    if (w >= code_words(chunk.numel)) continue;
    const unsigned count = elements_of_word(chunk.numel, w);
    const std::uint32_t word = quantizer.word(v[i], count);
    store_codes(codes, w, word, wire_aligned);
    if (!kFeedback) continue;
    const float4 decoded = decoder.fast ? decoder.fast_word(word) : decoder.word(word);
    store_word(chunk.residual, w, difference_of(v[i], decoded), count, aligned);
  }
}

template <bool kMean, bool kFeedback>
__global__ void __launch_bounds__(kThreads, 2)
    encode_tiles(const Batch batch, State* state, std::uint32_t lead) {
  __shared__ Shared shared;
  for (;;) {
    if (threadIdx.x == 0) shared.ticket = atomicAdd(&state->ticket, 1);
    __syncthreads();
    const std::uint32_t ticket = shared.ticket;
    if (ticket >= 2 * batch.tiles) return;
    const Task task(ticket, batch.tiles, lead);
    const unsigned at = chunk_of_tile(batch.chunks, batch.count, task.tile);
    const Chunk chunk = batch.chunks[at];
    const std::size_t first = (task.tile - chunk.first_tile) * std::size_t{kTile / 4};
    float4 v[kWords] = {};
    if (task.is_range) {
      read<kMean, kFeedback>(v, batch, chunk, first, shared);
      find_range(v, chunk, first, shared, state->chunks[at]);
    } else {
      const Range range = await_range(state->chunks[at], chunk, shared);
      read<kMean, kFeedback>(v, batch, chunk, first, shared);
      write_codes<kFeedback>(v, chunk, first, range);
    }
    __syncthreads();  // the shared memory is reused after this
  }
}

using Kernel = void (*)(Batch, State*, std::uint32_t);
constexpr Kernel kKernels[2][2] = {{encode_tiles<false, false>, encode_tiles<false, true>},
                                   {encode_tiles<true, false>, encode_tiles<true, true>}};

}  // namespace

unsigned resident_tile_blocks(bool mean, bool feedback) {
  int blocks = 0;
  check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kKernels[mean][feedback], kThreads, 0),
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<unsigned>(blocks);
}

std::size_t tile_state_bytes(std::uint32_t chunks) {
  return sizeof(State) + (chunks - 1) * sizeof(Progress);
}

void encode_in_tiles(cudaStream_t stream, const Batch& batch, void* state, std::uint32_t lead,
                     unsigned blocks, bool mean, bool feedback) {
  launch(stream, {.grid = blocks, .block = kThreads}, kKernels[mean][feedback], batch,
         static_cast<State*>(state), lead);
}

}  // namespace trigram::cuda::minmax_uint8
