#pragma once

#include "core/accelerator_backend.h"

namespace trigram::cuda {

/// Where a rank is among those that see the same GPUs: of its machine, or, where a launcher gives
/// each rank GPUs of its own, it alone.
struct Placement {
  int index = 0;  // of this rank, in the order of ranks
  int count = 1;  // ranks that see these GPUs
};

/// Learns it from what all ranks say of their machines and first GPUs. Collective.
Placement place_on_machine(Bootstrap& bootstrap, Waiter& waiter);

/// The device that a rank takes. Throws ConfigError when it sees too few.
int device_of(const Placement& placement, int ranks_per_gpu, int devices);

/// Sets what CUDA reads from the environment, unless the user has set it. Before its first call.
void prepare_environment();

/// Sets what makes NCCL accept several ranks of one GPU, which it does not support: a name of its
/// own for the machine of each, and messages over the loopback interface. Before its first call.
void let_ranks_share_a_gpu(int rank);

}  // namespace trigram::cuda
