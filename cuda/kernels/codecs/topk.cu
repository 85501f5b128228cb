#include "cuda/kernels/codecs/sparse.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/kernels/grid.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::topk {
namespace {

constexpr unsigned kThreads = kBlock, kWarps = kThreads / 32;
// Each thread handles neighbouring elements, so that chosen elements stay in order.
constexpr unsigned kPerThread = 8;
constexpr std::size_t kTile = kThreads * kPerThread;

// A magnitude is split into three digits, highest first.
constexpr unsigned kPasses = 3, kBins = 2048;
constexpr unsigned shift_of(unsigned pass) { return pass == 0 ? 20 : pass == 1 ? 9 : 0; }
constexpr unsigned bits_of(unsigned pass) { return pass == 2 ? 9 : 11; }
constexpr unsigned kFirstNotFinite = 0x7F800000 >> shift_of(0);  // highest digit of infinity

/// The results of the passes so far.
struct State {
  std::uint32_t histogram[kPasses][kBins];
  std::uint32_t bound;  // the known digits of the smallest chosen magnitude; other bits are 0
  std::uint32_t ties;   // number of elements with these digits that are still to be chosen
  std::uint32_t not_finite;
};

/// The number of elements of a tile with magnitudes above and at the bound. After add_up_tiles: the
/// number in all tiles before it.
struct Counts {
  std::uint32_t above, ties;
};

__device__ __forceinline__ std::uint32_t magnitude(float x) {
  return __float_as_uint(x) & 0x7FFFFFFF;
}

template <unsigned kPass>
__global__ void __launch_bounds__(kThreads)
    count_digits(const float* x, std::size_t numel, State* state) {
  constexpr unsigned kShift = shift_of(kPass);
  __shared__ std::uint32_t bins[kBins];
  for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) bins[bin] = 0;
  __syncthreads();
  for (std::size_t i = grid_thread(); i < numel; i += grid_threads()) {
    const std::uint32_t m = magnitude(x[i]);
    if (kPass > 0 && (m ^ state->bound) >> (kShift + bits_of(kPass)) != 0) continue;
    atomicAdd(&bins[m >> kShift & ((1u << bits_of(kPass)) - 1)], 1);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) {
    if (bins[bin] > 0) atomicAdd(&state->histogram[kPass][bin], bins[bin]);
  }
}

/// Returns the sum over the threads before this one; `all` becomes the sum over the block.
__device__ __forceinline__ Counts exclusive_sum(Counts own, Counts& all, Counts (&warps)[kWarps]) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Counts sum = own;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t above = __shfl_up_sync(0xFFFFFFFF, sum.above, step);
    const std::uint32_t ties = __shfl_up_sync(0xFFFFFFFF, sum.ties, step);
    if (lane < step) continue;
    sum.above += above;
    sum.ties += ties;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  all = {0, 0};
  Counts earlier = {0, 0};
  for (unsigned i = 0; i < kWarps; ++i) {
    if (i == warp) earlier = all;
    all.above += warps[i].above;
    all.ties += warps[i].ties;
  }
  __syncthreads();
  return {earlier.above + sum.above - own.above, earlier.ties + sum.ties - own.ties};
}

/// Adds up the histogram from the largest digit down, and finds the digit at which the wanted
/// number of elements is reached.
template <unsigned kPass>
__global__ void __launch_bounds__(kThreads) choose_digit(std::uint32_t kept, State* state) {
  __shared__ Counts warps[kWarps];
  constexpr unsigned kOwn = kBins / kThreads;
  const std::uint32_t wanted = kPass == 0 ? kept : state->ties;
  const std::uint32_t* bins = state->histogram[kPass];
  const unsigned highest = kBins - 1 - threadIdx.x * kOwn;
  Counts own = {0, 0}, all;
  for (unsigned i = 0; i < kOwn; ++i) own.above += bins[highest - i];
  std::uint32_t above = exclusive_sum(own, all, warps).above;
  for (unsigned i = 0; kPass == 0 && i < kOwn && highest - i >= kFirstNotFinite; ++i) {
    if (bins[highest - i] > 0) atomicOr(&state->not_finite, 1);
  }
  for (unsigned i = 0; i < kOwn; ++i) {
    const std::uint32_t here = bins[highest - i];
    if (above < wanted && wanted <= above + here) {
      state->bound |= (highest - i) << shift_of(kPass);
      state->ties = wanted - above;
    }
    above += here;
  }
}

__device__ __forceinline__ Counts counts_of(const float* x, std::size_t begin, std::size_t numel,
                                            std::uint32_t bound) {
  Counts counts = {0, 0};
  for (unsigned i = 0; i < kPerThread && begin + i < numel; ++i) {
    const std::uint32_t m = magnitude(x[begin + i]);
    counts.above += m > bound;
    counts.ties += m == bound;
  }
  return counts;
}

__global__ void __launch_bounds__(kThreads)
    count_tiles(const float* x, std::size_t numel, const State* state, Counts* tiles) {
  __shared__ Counts warps[kWarps];
  const std::size_t begin = grid_thread() * kPerThread;
  Counts all;
  exclusive_sum(counts_of(x, begin, numel, state->bound), all, warps);
  if (threadIdx.x == 0) tiles[blockIdx.x] = all;
}

/// Replaces the counts of each tile by the sums over all tiles before it. Runs as one block.
__global__ void __launch_bounds__(kThreads) add_up_tiles(Counts* tiles, std::size_t count) {
  __shared__ Counts warps[kWarps];
  Counts earlier = {0, 0};
  for (std::size_t first = 0; first < count; first += kThreads) {
    const std::size_t at = first + threadIdx.x;
    Counts all;
    const Counts own = at < count ? tiles[at] : Counts{0, 0};
    const Counts within = exclusive_sum(own, all, warps);
    if (at < count) tiles[at] = {earlier.above + within.above, earlier.ties + within.ties};
    earlier = {earlier.above + all.above, earlier.ties + all.ties};
  }
}

__global__ void __launch_bounds__(kThreads)
    write_chosen(const float* x, std::size_t numel, const State* state, const Counts* tiles,
                 std::uint32_t kept, std::byte* wire) {
  __shared__ Counts warps[kWarps];
  const std::uint32_t bound = state->bound, ties = state->ties;
  const std::size_t begin = grid_thread() * kPerThread;
  Counts all;
  Counts at = exclusive_sum(counts_of(x, begin, numel, bound), all, warps);
  at.above += tiles[blockIdx.x].above;
  at.ties += tiles[blockIdx.x].ties;
  const bool aligned = is_aligned(wire, 4);
  for (unsigned i = 0; i < kPerThread && begin + i < numel; ++i) {
    const float v = x[begin + i];
    const std::uint32_t m = magnitude(v), place = at.above + min(at.ties, ties);
    if (m > bound || (m == bound && at.ties < ties)) {
      store_codes(wire, place, static_cast<std::uint32_t>(begin + i), aligned);
      store_codes(wire, std::size_t{kept} + place,
                  state->not_finite ? 0x7FC00000 : __float_as_uint(v), aligned);
    }
    at.above += m > bound;
    at.ties += m == bound;
  }
}

__global__ void __launch_bounds__(kThreads)
    scatter(const std::byte* wire, std::size_t kept, float* x, std::size_t numel) {
  const bool aligned = is_aligned(wire, 4);
  for (std::size_t i = grid_thread(); i < kept; i += grid_threads()) {
    const std::uint32_t index = load_codes(wire, i, aligned);
    if (index < numel) x[index] = __uint_as_float(load_codes(wire, kept + i, aligned));
  }
}

template <unsigned kPass>
void pass(cudaStream_t stream, const float* x, std::size_t numel, std::size_t kept, State* state) {
  launch(stream, {.grid = blocks_for(numel), .block = kThreads}, count_digits<kPass>, x, numel,
         state);
  launch(stream, {.grid = 1, .block = kThreads}, choose_digit<kPass>,
         static_cast<std::uint32_t>(kept), state);
}

std::size_t tiles_of(std::size_t numel) { return (numel + kTile - 1) / kTile; }

}  // namespace

ScratchSize scratch_size(std::size_t numel) {
  return {sizeof(State) + tiles_of(numel) * sizeof(Counts), sizeof(State)};
}

void encode(cudaStream_t stream, const float* x, std::size_t numel, std::size_t kept,
            std::byte* wire, void* scratch) {
  auto* state = static_cast<State*>(scratch);
  auto* counts = reinterpret_cast<Counts*>(state + 1);
  pass<0>(stream, x, numel, kept, state);
  pass<1>(stream, x, numel, kept, state);
  pass<2>(stream, x, numel, kept, state);
  const std::size_t tiles = tiles_of(numel);
  const Launch by_tiles = {.grid = static_cast<unsigned>(tiles), .block = kThreads};
  launch(stream, by_tiles, count_tiles, x, numel, state, counts);
  launch(stream, {.grid = 1, .block = kThreads}, add_up_tiles, counts, tiles);
  launch(stream, by_tiles, write_chosen, x, numel, state, counts, static_cast<std::uint32_t>(kept),
         wire);
}

void decode(cudaStream_t stream, const std::byte* wire, std::size_t kept, float* x,
            std::size_t numel) {
  fill_background(stream, wire + kept * sizeof(std::uint32_t), x, numel);
  launch(stream, {.grid = blocks_for(kept), .block = kThreads}, scatter, wire, kept, x, numel);
}

}  // namespace trigram::cuda::topk
