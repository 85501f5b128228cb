#include "cuda/kernels/codecs/dct_topk.h"

#include "core/codecs/dct_topk_math.h"
#include "cuda/kernels/codecs/chunk_selection.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::dct_topk {
namespace {

using namespace trigram::dct_topk;

// A block handles a chunk.
constexpr unsigned kThreads = 256;
using Selection = ChunkSelection<kThreads, kChunk / kThreads>;

/// The factors of the DCT of n values, in shared memory.
struct Basis {
  float cosines[4 * kSide], norms[kSide];

  /// All threads of the block call it; a barrier must follow.
  __device__ __forceinline__ void fill(unsigned n) {
    for (unsigned phase = threadIdx.x; phase < 4 * n; phase += kThreads)
      cosines[phase] = cosine(n, phase);
    for (unsigned k = threadIdx.x; k < n; k += kThreads) norms[k] = norm(n, k);
  }
};

/// The sum over i < n of element(i) * DCT[k, i].
template <class Element>
__device__ __forceinline__ float coefficient(const Basis& basis, unsigned n, unsigned k,
                                             const Element& element) {
  float sum = 0;
  for (unsigned i = 0, phase = k; i < n; ++i) {
    sum = __fadd_rn(sum, __fmul_rn(element(i), __fmul_rn(basis.norms[k], basis.cosines[phase])));
    phase = (phase + 2 * k) % (4 * n);
  }
  return sum;
}

/// The sum over k < n of element(k) * DCT[k, i].
template <class Element>
__device__ __forceinline__ float value_at(const Basis& basis, unsigned n, unsigned i,
                                          const Element& element) {
  float sum = 0;
  for (unsigned k = 0, phase = 0; k < n; ++k) {
    sum = __fadd_rn(sum, __fmul_rn(element(k), __fmul_rn(basis.norms[k], basis.cosines[phase])));
    phase = (phase + 2 * i + 1) % (4 * n);
  }
  return sum;
}

/// A chunk of a vector, its shape, and the shared memory of the block that transforms it.
struct Work {
  float a[kChunk], b[kChunk];
  Basis rows, columns;
};
struct Chunk {
  std::size_t first;
  unsigned numel, rows, columns;

  __device__ __forceinline__ explicit Chunk(std::size_t numel_of_all)
      : first(std::size_t{blockIdx.x} * kChunk),
        numel(static_cast<unsigned>(min(kChunk, numel_of_all - first))) {
    const Shape shape = shape_of(numel);
    rows = static_cast<unsigned>(shape.rows);
    columns = static_cast<unsigned>(shape.columns);
  }
  __device__ __forceinline__ unsigned coefficients() const { return rows * columns; }
  __device__ __forceinline__ void fill_bases(Work& work) const {
    work.rows.fill(rows);
    work.columns.fill(columns);
  }
};

/// work.b = the coefficients of the chunk x. All threads of the block call it.
__device__ __forceinline__ void transform(const Chunk& chunk, const float* x, Work& work) {
  chunk.fill_bases(work);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < chunk.coefficients(); i += kThreads) {
    const unsigned row = i / chunk.columns * chunk.columns;
    work.a[i] = coefficient(work.columns, chunk.columns, i % chunk.columns,
                            [&](unsigned j) { return row + j < chunk.numel ? x[row + j] : 0; });
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < chunk.coefficients(); i += kThreads)
    work.b[i] = coefficient(work.rows, chunk.rows, i / chunk.columns, [&](unsigned row) {
      return work.a[row * chunk.columns + i % chunk.columns];
    });
  __syncthreads();
}

/// x = the chunk with the coefficients work.b, which all threads of the block have written.
__device__ __forceinline__ void invert(const Chunk& chunk, Work& work, float* x) {
  chunk.fill_bases(work);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < chunk.coefficients(); i += kThreads)
    work.a[i] = value_at(work.columns, chunk.columns, i % chunk.columns,
                         [&](unsigned k) { return work.b[i / chunk.columns * chunk.columns + k]; });
  __syncthreads();
  for (unsigned i = threadIdx.x; i < chunk.numel; i += kThreads)
    x[i] = value_at(work.rows, chunk.rows, i / chunk.columns,
                    [&](unsigned k) { return work.a[k * chunk.columns + i % chunk.columns]; });
}

__device__ __forceinline__ std::uint32_t load_code(const std::byte* from, unsigned i) {
  std::uint64_t packed = 0;
  for (unsigned byte = 0; byte < kGroupBytes; ++byte)
    packed |= std::uint64_t{static_cast<std::uint8_t>(from[i / kGroup * kGroupBytes + byte])}
              << 8 * byte;
  return static_cast<std::uint32_t>(packed >> kCodeBits * (i % kGroup)) & 0xFFFFFFF;
}

/// Calls each(index, value) for the codes of a chunk, each on one thread of the block.
template <class Each>
__device__ __forceinline__ void for_each_code(const Chunk& chunk, std::size_t keep,
                                              const std::byte* wire, const Each& each) {
  const std::byte* const from = wire + blockIdx.x * chunk_bytes(kChunk, keep);
  const auto kept = static_cast<unsigned>(kept_of(chunk.numel, keep));
  for (unsigned i = threadIdx.x; i < kept; i += kThreads) {
    const std::uint32_t code = load_code(from, i);
    if (index_of(code) < chunk.coefficients()) each(index_of(code), value_of(code));
  }
}

__global__ void __launch_bounds__(kThreads)
    encode_chunks(const float* x, std::size_t numel, std::size_t keep, std::byte* wire) {
  __shared__ Work work;
  __shared__ Selection::Shared shared;
  const Chunk chunk(numel);
  transform(chunk, x + chunk.first, work);
  const auto kept = static_cast<unsigned>(kept_of(chunk.numel, keep));
  const Selection selection(work.b, chunk.coefficients(), kept, shared);
  const bool diverged = is_diverged(selection.most());
  auto* const codes = reinterpret_cast<std::uint32_t*>(work.a);
  selection.for_each([&](unsigned position, unsigned index) {
    codes[position] =
        diverged ? code_of(position, kDiverged) : code_of(index, bf16_of(work.b[index]));
  });
  __syncthreads();
  std::byte* const to = wire + blockIdx.x * chunk_bytes(kChunk, keep);
  for (unsigned group = threadIdx.x; group * kGroup < kept; group += kThreads) {
    std::uint64_t packed = codes[group * kGroup];
    if (group * kGroup + 1 < kept) packed |= std::uint64_t{codes[group * kGroup + 1]} << kCodeBits;
    for (unsigned byte = 0; byte < kGroupBytes; ++byte)
      to[group * kGroupBytes + byte] = static_cast<std::byte>(packed >> 8 * byte);
  }
}

__global__ void __launch_bounds__(kThreads)
    decode_chunks(const std::byte* wire, std::size_t numel, std::size_t keep, float* x) {
  __shared__ Work work;
  const Chunk chunk(numel);
  for (unsigned i = threadIdx.x; i < chunk.coefficients(); i += kThreads) work.b[i] = 0;
  __syncthreads();
  for_each_code(chunk, keep, wire, [&](unsigned i, float value) { work.b[i] = value; });
  invert(chunk, work, x + chunk.first);
}

__global__ void __launch_bounds__(kThreads)
    add_codes(const std::byte* wire, std::size_t numel, std::size_t keep, float* sums,
              float* senders) {
  const Chunk chunk(numel);
  for_each_code(chunk, keep, wire, [&](unsigned i, float value) {
    sums[chunk.first + i] = __fadd_rn(sums[chunk.first + i], value);
    senders[chunk.first + i] = __fadd_rn(senders[chunk.first + i], 1);
  });
}

__global__ void __launch_bounds__(kThreads)
    decode_means(const float* sums, const float* senders, std::size_t numel, float* x) {
  __shared__ Work work;
  const Chunk chunk(numel);
  for (unsigned i = threadIdx.x; i < chunk.coefficients(); i += kThreads) {
    const float count = senders[chunk.first + i];
    work.b[i] = count > 0 ? __fdiv_rn(sums[chunk.first + i], count) : 0;
  }
  invert(chunk, work, x + chunk.first);
}

Launch shape(std::size_t numel) {
  return {.grid = static_cast<unsigned>((numel + kChunk - 1) / kChunk), .block = kThreads};
}

}  // namespace

void encode(cudaStream_t stream, const float* x, std::size_t numel, std::size_t keep,
            std::byte* wire) {
  if (numel > 0) launch(stream, shape(numel), encode_chunks, x, numel, keep, wire);
}

void decode(cudaStream_t stream, const std::byte* wire, std::size_t numel, std::size_t keep,
            float* x) {
  if (numel > 0) launch(stream, shape(numel), decode_chunks, wire, numel, keep, x);
}

std::size_t coefficients(std::size_t numel) { return (numel + kChunk - 1) / kChunk * kChunk; }

void add_coefficients(cudaStream_t stream, const std::byte* wire, std::size_t numel,
                      std::size_t keep, float* sums, float* senders) {
  if (numel > 0) launch(stream, shape(numel), add_codes, wire, numel, keep, sums, senders);
}

void decode_mean(cudaStream_t stream, const float* sums, const float* senders, std::size_t numel,
                 float* x) {
  if (numel > 0) launch(stream, shape(numel), decode_means, sums, senders, numel, x);
}

}  // namespace trigram::cuda::dct_topk
