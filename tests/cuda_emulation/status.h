#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace cuda_emulation {

/// What a call returns; errors are what cudaGetLastError of this thread returns next.
cudaError_t remember(cudaError_t error);
/// cudaErrorLaunchFailure once a kernel has failed.
cudaError_t kernel_status();

/// How many operations of streams have run in this process: whether there is progress.
std::size_t operations_run();
void count_operation();

}  // namespace cuda_emulation
