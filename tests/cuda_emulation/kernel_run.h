#pragma once

#include <functional>
#include <string>

#include "tests/cuda_emulation/vector_types.h"

namespace cuda_emulation {

/// How a kernel is spread over blocks.
struct Shape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;      // blocks along x that run side by side
  bool cooperative = false;  // all blocks run side by side
};

/// Runs all threads of a kernel, one at a time, each until it must wait for others. Which of the
/// threads that could run is first changes from launch to launch, and whenever all have had their
/// turn. Returns what is wrong with the kernel, such as a barrier that some of its threads do not
/// reach; empty when all ended. Not re-entrant.
std::string run_kernel(const Shape& shape, const std::function<void()>& thread);

}  // namespace cuda_emulation
