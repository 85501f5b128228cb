#include "tests/cuda_emulation/device_memory.h"

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/cuda_emulation/queue.h"
#include "tests/cuda_emulation/status.h"

namespace cuda_emulation {
namespace {

struct Allocation {
  std::size_t nbytes;
  bool guarded;
};

// All allocations. The mutex of the queues guards them.
std::map<void*, Allocation>& allocations() {
  static std::map<void*, Allocation> all;
  return all;
}
int accesses = 0;

void protect_all(int protection) {
  for (const auto& [memory, allocation] : allocations()) {
    if (allocation.guarded) mprotect(memory, allocation.nbytes, protection);
  }
}

bool guard_wanted() {
  const char* const guard = std::getenv("TRIGRAM_EMULATED_GUARD");
  return guard && std::strcmp(guard, "1") == 0;
}

constexpr std::size_t kTotalBytes = std::size_t{4} << 30;

std::size_t allocated_bytes() {
  std::size_t sum = 0;
  for (const auto& [memory, allocation] : allocations()) sum += allocation.nbytes;
  return sum;
}

cudaError_t copy(void* to, const void* from, std::size_t nbytes, cudaStream_t stream) {
  const std::lock_guard lock(queues().mutex);
  if (!shared_stream(stream)) return remember(cudaErrorInvalidResourceHandle);
  enqueue(stream, [=] {
    if (nbytes > 0) std::memmove(to, from, nbytes);
    return true;
  });
  return remember(kernel_status());
}

}  // namespace

DeviceMemoryAccess::DeviceMemoryAccess() {
  if (accesses++ == 0) protect_all(PROT_READ | PROT_WRITE);
}

DeviceMemoryAccess::~DeviceMemoryAccess() {
  if (--accesses == 0) protect_all(PROT_NONE);
}

}  // namespace cuda_emulation

cudaError_t cudaMalloc(void** memory, std::size_t nbytes) {
  using namespace cuda_emulation;
  const std::lock_guard lock(queues().mutex);
  const std::size_t mapped = (nbytes / 4096 + 1) * 4096;
  if (allocated_bytes() + mapped > kTotalBytes) return remember(cudaErrorMemoryAllocation);
  void* const block = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return remember(cudaErrorMemoryAllocation);
  // Fills the beginning with NaN in every format.
  std::memset(block, 0xFF, std::min(mapped, std::size_t{1} << 20));
  const bool guarded = guard_wanted();
  if (guarded) mprotect(block, mapped, PROT_NONE);
  allocations()[block] = {mapped, guarded};
  *memory = block;
  return remember(cudaSuccess);
}

cudaError_t cudaFree(void* memory) {
  using namespace cuda_emulation;
  if (!memory) return remember(cudaSuccess);
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) return error;
  const std::lock_guard lock(queues().mutex);
  const auto found = allocations().find(memory);
  if (found == allocations().end()) return remember(cudaErrorInvalidValue);
  munmap(memory, found->second.nbytes);
  allocations().erase(found);
  return remember(cudaSuccess);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  using namespace cuda_emulation;
  const std::lock_guard lock(queues().mutex);
  *total = kTotalBytes;
  *free = kTotalBytes - allocated_bytes();
  return remember(cudaSuccess);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t nbytes, unsigned) {
  *memory = std::aligned_alloc(4096, (nbytes / 4096 + 1) * 4096);
  return cuda_emulation::remember(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cuda_emulation::remember(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t nbytes, cudaMemcpyKind) {
  if (const cudaError_t error = cuda_emulation::copy(to, from, nbytes, nullptr)) return error;
  return cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t nbytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return cuda_emulation::copy(to, from, nbytes, stream);
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t nbytes, cudaStream_t stream) {
  using namespace cuda_emulation;
  const std::lock_guard lock(queues().mutex);
  if (!shared_stream(stream)) return remember(cudaErrorInvalidResourceHandle);
  enqueue(stream, [=] {
    std::memset(memory, value, nbytes);
    return true;
  });
  return remember(kernel_status());
}
