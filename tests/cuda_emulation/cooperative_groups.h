#pragma once

#include "tests/cuda_emulation/cuda_runtime.h"

namespace cuda_emulation {
/// The rank of the running thread's block within its cluster, and the number of blocks in the
/// cluster.
unsigned cluster_rank();
unsigned cluster_size();
/// The address in the dynamic shared memory of block `rank` of the cluster that corresponds to
/// `address` in this block's.
void* in_block(void* address, unsigned rank, const Site& site);
void cluster_barrier(const Site& site);
}  // namespace cuda_emulation

namespace cooperative_groups {

using cuda_emulation::Site;

/// The blocks that run concurrently and can access each other's shared memory.
class cluster_group {
 public:
  static unsigned block_rank() { return cuda_emulation::cluster_rank(); }
  static unsigned num_blocks() { return cuda_emulation::cluster_size(); }
  static void sync(const Site& site = Site::current()) { cuda_emulation::cluster_barrier(site); }
  template <class T>
  static T* map_shared_rank(T* address, unsigned rank, const Site& site = Site::current()) {
    return static_cast<T*>(cuda_emulation::in_block(address, rank, site));
  }
};

inline cluster_group this_cluster() { return {}; }

}  // namespace cooperative_groups
