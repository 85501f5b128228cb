#pragma once

#include <functional>
#include <string>

#include "tests/cuda_emulation/vector_types.h"

namespace cuda_emulation {

/// How a kernel is divided into blocks.
struct Shape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;      // number of blocks along x that run concurrently
  bool cooperative = false;  // all blocks run concurrently
};

/// Runs all threads of a kernel, one at a time; each runs until it must wait for other threads. The
/// order of runnable threads changes from launch to launch, and each time all threads have had a
/// turn. Returns an error of the kernel, such as a barrier that some of its threads do not reach;
/// empty if all threads ended. Not re-entrant.
std::string run_kernel(const Shape& shape, const std::function<void()>& thread);

}  // namespace cuda_emulation
