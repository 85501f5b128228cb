#pragma once

#include <memory>
#include <string>

#include "core/accelerator_backend.h"
#include "cuda/support/options.h"

// The functions through which the rest of the project uses CUDA and NCCL.

namespace trigram {

/// The reason why this build cannot use GPUs on any machine; empty if it can.
std::string cuda_absent_reason();
/// The reason why no rank can run on a GPU of this machine: the build has no CUDA, or the machine
/// has no GPU. Empty if ranks can.
std::string cuda_unavailable_reason();

/// Creates the accelerator of this rank: its GPU, and NCCL between the ranks. Collective over the
/// ranks of `bootstrap`. The ranks of a machine are assigned to its GPUs in order, `ranks_per_gpu`
/// to each. `waiter` waits for other ranks on the calling thread. Throws ConfigError if a machine
/// has fewer GPUs than its ranks need, and CudaError or NcclError if one of these libraries fails.
std::unique_ptr<AcceleratorBackend> make_cuda_accelerator(const CudaOptions& options,
                                                          Bootstrap& bootstrap, Waiter& waiter);

}  // namespace trigram
