#pragma once

#include <memory>
#include <string>

#include "core/accelerator_backend.h"
#include "cuda/support/options.h"

// What the rest of the project knows of CUDA and NCCL.

namespace trigram {

/// Why this build has no GPUs, whatever the machine; empty when it has them.
std::string cuda_absent_reason();
/// Why no rank can run on a GPU here: the build has no CUDA, or the machine no GPU. Empty when it
/// can.
std::string cuda_unavailable_reason();

/// The GPU of this rank, and NCCL between the ranks. Collective over the ranks of `bootstrap`.
/// Ranks of one machine take its GPUs in their order, `ranks_per_gpu` each. `waiter` waits for the
/// others on the calling thread. Throws ConfigError when a machine has fewer GPUs than its ranks
/// need, CudaError and NcclError when one of these libraries fails.
std::unique_ptr<AcceleratorBackend> make_cuda_accelerator(const CudaOptions& options,
                                                          Bootstrap& bootstrap, Waiter& waiter);

}  // namespace trigram
