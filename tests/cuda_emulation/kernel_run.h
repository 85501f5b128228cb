#pragma once

#include <functional>
#include <string>

#include "tests/cuda_emulation/vector_types.h"

namespace cuda_emulation {

/// How a kernel is divided into blocks.
struct Shape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;  // number of blocks along x that run concurrently
};

/// Runs all threads of a kernel, one at a time; each runs until it must wait for other threads. The
/// order of the threads is reversed from launch to launch, and after each turn of all threads.
/// Returns an error of the kernel, such as a barrier that some of its threads do not reach; empty
/// if all threads ended. Not re-entrant.
std::string run_kernel(const Shape& shape, const std::function<void()>& thread);

}  // namespace cuda_emulation
