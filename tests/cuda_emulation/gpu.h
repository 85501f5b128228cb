#pragma once

#include <cstddef>

namespace cuda_emulation {

/// The emulated GPU. It has the limits of a Hopper GPU, but few multiprocessors, so that small
/// tests have more blocks than fit at once.
inline constexpr int kMultiprocessors = 4;
inline constexpr int kBlocksPerMultiprocessor = 4;
inline constexpr unsigned kThreadsPerBlock = 1024;
inline constexpr int kSharedPerBlock = 48 << 10;
inline constexpr int kSharedPerBlockOptin = 227 << 10;
inline constexpr int kL2Bytes = 1 << 20;

}  // namespace cuda_emulation
