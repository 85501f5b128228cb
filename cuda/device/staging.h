#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <span>

#include "core/accelerator_backend.h"
#include "cuda/support/event.h"

namespace trigram::cuda {

/// Copies between pageable host memory and the GPU through pinned memory that is allocated once. It
/// serves one stream and is created and used on that stream's thread.
class Staging {
 public:
  Staging(cudaStream_t stream, Waiter& waiter);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Queues the copy. `from` may be reused at once. Blocks only while all slots contain earlier
  /// uploads.
  void upload(std::byte* to, std::span<const std::byte> from);
  /// Queues the copy and waits until it is complete.
  void download(std::span<std::byte> to, const std::byte* from);

 private:
  static constexpr std::size_t kSlots = 4, kSlotBytes = 1 << 20;
  struct Slot {
    std::byte* memory = nullptr;
    Event done;  // event after the last copy from or to `memory`
  };
  void wait_for(const Slot& slot);

  const cudaStream_t stream_;
  Waiter& waiter_;
  std::byte* memory_ = nullptr;
  std::array<Slot, kSlots> slots_;
  std::size_t next_ = 0;
};

}  // namespace trigram::cuda
