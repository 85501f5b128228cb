#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace cuda_emulation {

/// Returns `error`. Unless it is cudaSuccess, the next cudaGetLastError on this thread returns it,
/// too.
cudaError_t remember(cudaError_t error);
/// cudaErrorLaunchFailure if a kernel has failed; otherwise cudaSuccess.
cudaError_t kernel_status();

/// The number of stream operations that have run in this process, which shows progress.
std::size_t operations_run();
void count_operation();

}  // namespace cuda_emulation
