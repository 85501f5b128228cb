#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/device.h"

/// Optimizer steps. Each takes one launch and gives the same bits as HostDevice.
namespace trigram::cuda {

/// Weights w, gradients g and moments m and v, with n elements each. SGD does not use v, and uses m
/// only with momentum.
struct Parameters {
  float* w = nullptr;
  float* g = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  std::size_t n = 0;
};

void sgd(cudaStream_t stream, const SgdStep& step, const Parameters& parameters);
void adam(cudaStream_t stream, const AdamStep& step, const Parameters& parameters);

/// One of several tensors that are updated in one launch; it is cut into chunks of kChunk elements.
struct Piece {
  Parameters parameters;
  std::size_t first_chunk = 0;  // number of chunks of all pieces before it
};
inline constexpr std::size_t kChunk = 4096;
constexpr std::size_t chunks_of(std::size_t n) { return (n + kChunk - 1) / kChunk; }

/// `pieces` is in device memory and ordered by first_chunk; no piece is empty. `chunks` is the
/// number of chunks of all pieces.
struct Pieces {
  const Piece* pieces = nullptr;
  unsigned count = 0;
  std::size_t chunks = 0;
};
void sgd(cudaStream_t stream, const SgdStep& step, const Pieces& pieces);
void adam(cudaStream_t stream, const AdamStep& step, const Pieces& pieces);

}  // namespace trigram::cuda
