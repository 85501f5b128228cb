#include "cuda/kernels/codecs/low_rank.h"

#include "core/math/low_rank.h"
#include "core/random/philox.h"
#include "cuda/kernels/codecs/teams.h"
#include "cuda/kernels/codecs/words.h"
#include "cuda/kernels/grid.h"
#include "cuda/support/launch.h"

namespace trigram::cuda::low_rank {
namespace {

constexpr std::size_t kTeams = kBlock / team::kSize;
constexpr std::uint32_t kNaN = 0x7FC00000;

/// The number of elements in row `row` of a matrix with `numel` elements; the last row may be
/// shorter.
__device__ __forceinline__ std::size_t row_length(std::size_t numel, MatrixShape shape,
                                                  std::size_t row) {
  return min(shape.cols, numel - row * shape.cols);
}

__global__ void draw(float* x, std::size_t numel, Philox::Key key, Philox::Block counter,
                     std::uint32_t first_block) {
  for (std::size_t i = grid_thread(); i < numel; i += grid_threads()) {
    counter[0] = first_block + static_cast<std::uint32_t>(i);
    x[i] = Philox::normal_of(Philox::encrypt(counter, key));
  }
}

/// One team computes one element of p = M q.
__global__ void rows_times(const float* m, std::size_t numel, MatrixShape shape, std::size_t rank,
                           const float* q, float* p) {
  const std::size_t number = grid_thread() / team::kSize;
  const std::size_t j = number / shape.rows, row = number % shape.rows;
  const std::size_t length = j < rank ? row_length(numel, shape, row) : 0;
  float sum = 0;
#pragma unroll 4
  for (std::size_t i = team::lane(); i < length; i += team::kSize)
    sum = __fadd_rn(sum, __fmul_rn(m[row * shape.cols + i], q[j * shape.cols + i]));
  sum = team::tree_sum(sum);
  if (j < rank && team::lane() == 0) p[number] = sum;
}

/// One thread computes one element of q = M^T p.
__global__ void columns_times(const float* m, std::size_t numel, MatrixShape shape,
                              std::size_t rank, const float* p, float* q) {
  const std::size_t number = grid_thread();
  const std::size_t j = number / shape.cols, col = number % shape.cols;
  if (j >= rank) return;
  float sum = 0;
#pragma unroll 8
  for (std::size_t i = col, row = 0; i < numel; i += shape.cols, ++row)
    sum = __fadd_rn(sum, __fmul_rn(p[j * shape.rows + row], m[i]));
  q[number] = sum;
}

/// Returns the scalar product to all threads of the block. The first warp computes it; its two
/// teams do the same work.
__device__ __forceinline__ double dot(const float* x, const float* y, std::size_t n,
                                      double& shared) {
  if (threadIdx.x < 32) {
    double sum = 0;
#pragma unroll 8
    for (std::size_t i = team::lane(); i < n; i += team::kSize)
      sum = sum + static_cast<double>(x[i]) * y[i];
    sum = team::tree_sum(sum);
    if (threadIdx.x == 0) shared = sum;
  }
  __syncthreads();
  const double result = shared;
  __syncthreads();
  return result;
}

/// Runs as one block, because the steps of Gram-Schmidt depend on each other.
__global__ void gram_schmidt(float* factors, std::size_t rows, std::size_t rank) {
  __shared__ double shared;
  for (std::size_t j = 0; j < rank; ++j) {
    float* const vector = factors + j * rows;
    const double before = __dsqrt_rn(dot(vector, vector, rows, shared));
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < j; ++i) {
        const float* const basis = factors + i * rows;
        const double along = dot(vector, basis, rows, shared);
        for (std::size_t k = threadIdx.x; k < rows; k += blockDim.x)
          vector[k] = static_cast<float>(vector[k] - along * basis[k]);
        __syncthreads();
      }
    }
    const double norm = __dsqrt_rn(dot(vector, vector, rows, shared));
    const double factor = norm > trigram::low_rank::kDependent * before ? __ddiv_rn(1, norm) : 0;
    for (std::size_t k = threadIdx.x; k < rows; k += blockDim.x)
      vector[k] = static_cast<float>(vector[k] * factor);
    __syncthreads();
  }
}

__global__ void outer_products(const std::byte* factors, MatrixShape shape, std::size_t rank,
                               float* m, std::size_t numel) {
  const bool aligned = is_aligned(factors, 4);
  const auto factor = [&](std::size_t i) {
    return __uint_as_float(load_codes(factors, i, aligned));
  };
  const std::size_t q = rank * shape.rows;
  for (std::size_t i = grid_thread(); i < numel; i += grid_threads()) {
    const std::size_t row = i / shape.cols, col = i % shape.cols;
    float sum = 0;
    for (std::size_t j = 0; j < rank; ++j)
      sum =
          __fadd_rn(sum, __fmul_rn(factor(j * shape.rows + row), factor(q + j * shape.cols + col)));
    m[i] = sum;
  }
}

__global__ void write_floats(const float* x, std::size_t numel, const std::uint32_t* not_finite,
                             std::byte* wire) {
  const bool aligned = is_aligned(wire, 4), use_nan = not_finite && *not_finite;
  for (std::size_t i = grid_thread(); i < numel; i += grid_threads())
    store_codes(wire, i, use_nan ? kNaN : __float_as_uint(x[i]), aligned);
}

__global__ void read_floats(const std::byte* wire, std::size_t numel, float* x) {
  const bool aligned = is_aligned(wire, 4);
  for (std::size_t i = grid_thread(); i < numel; i += grid_threads())
    x[i] = __uint_as_float(load_codes(wire, i, aligned));
}

__global__ void fill_if(float* x, std::size_t numel, const std::uint32_t* not_finite) {
  if (*not_finite == 0) return;
  for (std::size_t i = grid_thread(); i < numel; i += grid_threads()) x[i] = __uint_as_float(kNaN);
}

Launch by_elements(std::size_t count) { return {.grid = blocks_for(count), .block = kBlock}; }
Launch by_blocks(std::size_t count, std::size_t per_block) {
  return {.grid = static_cast<unsigned>((count + per_block - 1) / per_block), .block = kBlock};
}

}  // namespace

void fill_normal(cudaStream_t stream, float* x, std::size_t numel, const Philox& random,
                 std::uint32_t first_block) {
  launch(stream, by_elements(numel), draw, x, numel, random.key(), random.counter(0), first_block);
}

void multiply(cudaStream_t stream, const float* m, std::size_t numel, MatrixShape shape,
              std::size_t rank, const float* q, float* p) {
  launch(stream, by_blocks(rank * shape.rows, kTeams), rows_times, m, numel, shape, rank, q, p);
}

void multiply_transposed(cudaStream_t stream, const float* m, std::size_t numel, MatrixShape shape,
                         std::size_t rank, const float* p, float* q) {
  launch(stream, by_blocks(rank * shape.cols, kBlock), columns_times, m, numel, shape, rank, p, q);
}

void orthonormalise(cudaStream_t stream, float* vectors, std::size_t rows, std::size_t rank) {
  launch(stream, {.grid = 1, .block = kBlock}, gram_schmidt, vectors, rows, rank);
}

void reconstruct(cudaStream_t stream, const std::byte* factors, MatrixShape shape, std::size_t rank,
                 float* m, std::size_t numel) {
  launch(stream, by_elements(numel), outer_products, factors, shape, rank, m, numel);
}

void write(cudaStream_t stream, const float* x, std::size_t numel, const std::uint32_t* not_finite,
           std::byte* wire) {
  launch(stream, by_elements(numel), write_floats, x, numel, not_finite, wire);
}

void read(cudaStream_t stream, const std::byte* wire, std::size_t numel, float* x) {
  launch(stream, by_elements(numel), read_floats, wire, numel, x);
}

void fill_with_nan(cudaStream_t stream, float* x, std::size_t numel,
                   const std::uint32_t* not_finite) {
  launch(stream, by_elements(numel), fill_if, x, numel, not_finite);
}

}  // namespace trigram::cuda::low_rank
