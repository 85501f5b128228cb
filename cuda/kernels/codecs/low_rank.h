#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/math/low_rank.h"
#include "core/random/philox.h"

/// The kernels of the codec `powersgd`. They sum in the same order as core/math/low_rank.h.
namespace trigram::cuda::low_rank {

/// x[i] = the normally distributed number of random block `first_block` + i.
void fill_normal(cudaStream_t stream, float* x, std::size_t numel, const Philox& random,
                 std::uint32_t first_block);
void multiply(cudaStream_t stream, const float* m, std::size_t numel, MatrixShape shape,
              std::size_t rank, const float* q, float* p);
void multiply_transposed(cudaStream_t stream, const float* m, std::size_t numel, MatrixShape shape,
                         std::size_t rank, const float* p, float* q);
void orthonormalise(cudaStream_t stream, float* factors, std::size_t rows, std::size_t rank);
/// `factors` contains p, then q, in wire format.
void reconstruct(cudaStream_t stream, const std::byte* factors, MatrixShape shape, std::size_t rank,
                 float* m, std::size_t numel);
/// These functions copy f32 values to or from a wire. If the lowest bit of `not_finite` is set,
/// `write` and `fill_with_nan` store NaNs instead.
void write(cudaStream_t stream, const float* x, std::size_t numel, const std::uint32_t* not_finite,
           std::byte* wire);
void read(cudaStream_t stream, const std::byte* wire, std::size_t numel, float* x);
void fill_with_nan(cudaStream_t stream, float* x, std::size_t numel,
                   const std::uint32_t* not_finite);

}  // namespace trigram::cuda::low_rank
