#include "cuda/device/staging.h"

#include <algorithm>
#include <cstring>

#include "core/wait_text.h"

namespace trigram::cuda {

Staging::Staging(cudaStream_t stream, Waiter& waiter) : stream_(stream), waiter_(waiter) {
  check(cudaHostAlloc(&memory_, kSlots * kSlotBytes, cudaHostAllocDefault), "cudaHostAlloc");
  for (std::size_t i = 0; i < kSlots; ++i) slots_[i].memory = memory_ + i * kSlotBytes;
}

Staging::~Staging() {
  try {
    // If a copy still uses the memory, the memory is leaked: freeing it would wait for the GPU.
    for (const Slot& slot : slots_) {
      if (!slot.done.reached()) return;
    }
  } catch (const CudaError&) {
    // The GPU has failed, so no copy is in progress.
  }
  cudaFreeHost(memory_);
}

void Staging::wait_for(const Slot& slot) {
  if (slot.done.reached()) return;
  waiter_.await({.kind = Wait::accelerator}, [&slot] { return slot.done.reached(); });
}

void Staging::upload(std::byte* to, std::span<const std::byte> from) {
  while (!from.empty()) {
    Slot& slot = slots_[next_++ % kSlots];
    wait_for(slot);
    const std::size_t nbytes = std::min(from.size(), kSlotBytes);
    std::memcpy(slot.memory, from.data(), nbytes);
    check(cudaMemcpyAsync(to, slot.memory, nbytes, cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
    slot.done.record(stream_);
    to += nbytes;
    from = from.subspan(nbytes);
  }
}

void Staging::download(std::span<std::byte> to, const std::byte* from) {
  const std::size_t parts = (to.size() + kSlotBytes - 1) / kSlotBytes, first = next_;
  next_ += parts;
  const auto part = [to](std::size_t i) {
    const std::size_t begin = i * kSlotBytes;
    return to.subspan(begin, std::min(kSlotBytes, to.size() - begin));
  };
  // While an earlier part is copied out of its slot, later parts are copied from the GPU.
  for (std::size_t i = 0; i < parts + kSlots - 1; ++i) {
    if (i < parts) {
      Slot& slot = slots_[(first + i) % kSlots];
      wait_for(slot);  // an upload may still be reading it
      check(cudaMemcpyAsync(slot.memory, from + i * kSlotBytes, part(i).size(),
                            cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpyAsync");
      slot.done.record(stream_);
    }
    if (i + 1 >= kSlots && i + 1 - kSlots < parts) {
      const std::size_t taken = i + 1 - kSlots;
      Slot& slot = slots_[(first + taken) % kSlots];
      wait_for(slot);
      std::memcpy(part(taken).data(), slot.memory, part(taken).size());
    }
  }
}

}  // namespace trigram::cuda
