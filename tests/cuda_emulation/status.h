#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace cuda_emulation {

/// Returns `error`. If it is an error, cudaGetLastError also returns it next on this thread.
cudaError_t remember(cudaError_t error);
/// cudaErrorLaunchFailure after a kernel has failed.
cudaError_t kernel_status();

/// The number of stream operations that have run in this process, which shows progress.
std::size_t operations_run();
void count_operation();

}  // namespace cuda_emulation
