#pragma once

namespace cuda_emulation {

/// Guarded device memory is accessible only while an object of this type exists, that is, while
/// operations run. If the host reads or writes it directly, it crashes, as with a GPU. Memory is
/// guarded if it is allocated while the environment has TRIGRAM_EMULATED_GUARD=1. Guarding and
/// unguarding take time for every page in use. The thread that creates the object must hold the
/// mutex of the queues.
class DeviceMemoryAccess {
 public:
  DeviceMemoryAccess();
  ~DeviceMemoryAccess();
  DeviceMemoryAccess(const DeviceMemoryAccess&) = delete;
  DeviceMemoryAccess& operator=(const DeviceMemoryAccess&) = delete;
};

}  // namespace cuda_emulation
