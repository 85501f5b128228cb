#pragma once

namespace cuda_emulation {

/// Guarded device memory can be touched only while one of these lives, that is while operations
/// run: a host that reads or writes it directly crashes, as it would with a GPU. Memory is guarded
/// that is allocated while the environment has TRIGRAM_EMULATED_GUARD=1; to guard and unguard takes
/// time for every page in use. The holder has the mutex of the queues.
class DeviceMemoryAccess {
 public:
  DeviceMemoryAccess();
  ~DeviceMemoryAccess();
  DeviceMemoryAccess(const DeviceMemoryAccess&) = delete;
  DeviceMemoryAccess& operator=(const DeviceMemoryAccess&) = delete;
};

}  // namespace cuda_emulation
