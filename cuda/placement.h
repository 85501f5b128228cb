#pragma once

#include "core/accelerator_backend.h"

namespace trigram::cuda {

/// The position of a rank among the ranks that see the same GPUs. These are the ranks of its
/// machine, or only the rank itself if a launcher gives each rank its own GPUs.
struct Placement {
  int index = 0;  // position of this rank, in the order of ranks
  int count = 1;  // number of ranks that see these GPUs
};

/// Determines the placement by comparing the machines and first GPUs of all ranks. Collective.
Placement place_among_gpu_peers(Bootstrap& bootstrap, Waiter& waiter);

/// The number of the device that a rank uses. Throws ConfigError if the rank sees too few devices.
int device_of(const Placement& placement, int ranks_per_gpu, int devices);

/// Sets environment variables for CUDA and NCCL that the user has not set. Call it before the first
/// CUDA call.
void prepare_environment();

/// Sets environment variables that make NCCL accept several ranks on one GPU, which it does not
/// support: each rank pretends to be on a separate machine, and messages use the loopback
/// interface. Call it before the first NCCL call.
void let_ranks_share_a_gpu(int rank);

}  // namespace trigram::cuda
