#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/device.h"

/// Steps of optimizers, one launch each. Bit for bit those of HostDevice.
namespace trigram::cuda {

/// Weights, gradients and moments, n elements each. SGD has m alone, and needs it only where there
/// is momentum.
struct Parameters {
  float* w = nullptr;
  float* g = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  std::size_t n = 0;
};

void sgd(cudaStream_t stream, const SgdStep& step, const Parameters& parameters);
void adam(cudaStream_t stream, const AdamStep& step, const Parameters& parameters);

/// One of several tensors that are updated in one launch, cut into chunks of kChunk elements.
struct Piece {
  Parameters parameters;
  std::size_t first_chunk = 0;  // the number of chunks of the pieces before it
};
inline constexpr std::size_t kChunk = 4096;
constexpr std::size_t chunks_of(std::size_t n) { return (n + kChunk - 1) / kChunk; }

/// `pieces` lies in device memory, in the order of first_chunk; none is empty. `chunks` in all.
struct Pieces {
  const Piece* pieces = nullptr;
  unsigned count = 0;
  std::size_t chunks = 0;
};
void sgd(cudaStream_t stream, const SgdStep& step, const Pieces& pieces);
void adam(cudaStream_t stream, const AdamStep& step, const Pieces& pieces);

}  // namespace trigram::cuda
