#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/update_rules.h"

/// Optimizer steps (core/update_rules.h). They give the same bits as HostDevice.
namespace trigram::cuda {

/// Weights w, gradients g and the states of a rule, with n elements each.
struct Parameters {
  float* w = nullptr;
  float* g = nullptr;
  float* states[kMostStates] = {};
  std::size_t n = 0;
};

/// One launch.
void update(cudaStream_t stream, const UpdateRule& rule, const Parameters& parameters);

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
/// One launch.
void update(cudaStream_t stream, const UpdateRule& rule, const Pieces& pieces);

/// One of several tensors whose norms are taken. Its squares are summed in ranges of
/// norm_order::range_of(n) elements.
struct NormedPiece {
  Piece piece;
  std::size_t first_range = 0;  // number of ranges of all pieces before it
  bool is_vector = false;       // see TensorPlace
};
/// As Pieces. `sums` has 2 * ranges and `trusts` `count` values of scratch memory.
struct NormedPieces {
  const NormedPiece* pieces = nullptr;
  unsigned count = 0;
  std::size_t chunks = 0, ranges = 0;
  double* sums = nullptr;
  float* trusts = nullptr;
};
/// Three launches: sums of squares, factors, weights.
void update_each(cudaStream_t stream, const TensorRule& rule, const NormedPieces& pieces);

}  // namespace trigram::cuda
