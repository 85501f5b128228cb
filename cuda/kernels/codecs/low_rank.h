#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/math/low_rank.h"
#include "core/random/philox.h"

/// The kernels of the codec `powersgd`. They sum in the same order as core/math/low_rank.h. Here,
/// `rank` is the rank of the factorisation, not a process.
namespace trigram::cuda::low_rank {

/// x[i] = the standard normal number of Philox block `first_block` + i of `random`.
void fill_normal(cudaStream_t stream, float* x, std::size_t numel, const Philox& random,
                 std::uint32_t first_block);
/// p = M q. M is the vector `m` as a matrix of the given shape, row by row, padded with zeros; q
/// has `rank` vectors of shape.cols elements, and p has `rank` vectors of shape.rows.
void multiply(cudaStream_t stream, const float* m, std::size_t numel, MatrixShape shape,
              std::size_t rank, const float* q, float* p);
/// q = M^T p.
void multiply_transposed(cudaStream_t stream, const float* m, std::size_t numel, MatrixShape shape,
                         std::size_t rank, const float* p, float* q);
/// Makes the `rank` vectors of `rows` elements in `vectors` orthonormal, in place, as
/// core/math/low_rank.h does.
void orthonormalise(cudaStream_t stream, float* vectors, std::size_t rows, std::size_t rank);
/// m = the first `numel` elements of p q^T. `factors` contains p, then q, in wire format.
void reconstruct(cudaStream_t stream, const std::byte* factors, MatrixShape shape, std::size_t rank,
                 float* m, std::size_t numel);
/// Copies f32 values to a wire. If `not_finite` is not null and *not_finite is not 0, the wire gets
/// NaNs instead.
void write(cudaStream_t stream, const float* x, std::size_t numel, const std::uint32_t* not_finite,
           std::byte* wire);
void read(cudaStream_t stream, const std::byte* wire, std::size_t numel, float* x);
/// Fills x with NaN if *not_finite is not 0.
void fill_with_nan(cudaStream_t stream, float* x, std::size_t numel,
                   const std::uint32_t* not_finite);

}  // namespace trigram::cuda::low_rank
