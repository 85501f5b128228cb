#include "cuda/cuda_accelerator.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "cuda/nccl/backend.h"
#include "cuda/nccl/error.h"
#include "cuda/placement.h"
#include "cuda/support/error.h"

namespace trigram {
namespace {

// The part of a GPU's free memory that is reserved for NCCL's buffers and CUDA modules: a tenth,
// but at least 3 GiB and at most half.
constexpr double kReservedShare = 0.1, kReservedBytes = 3 * 1024.0 * 1024 * 1024;
constexpr const char* kMemoryAdvice =
    "increase the runtime's option \"memory\", or let fewer ranks share a GPU";

int device_count() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver) return 0;
  cuda::check(code, "cudaGetDeviceCount");
  return count;
}

std::size_t free_bytes_per_rank(std::int64_t ranks_per_gpu) {
  std::size_t free = 0, total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const auto all = static_cast<double>(free);
  const double reserved = std::min(all / 2, std::max(kReservedShare * all, kReservedBytes));
  return static_cast<std::size_t>((all - reserved) / static_cast<double>(ranks_per_gpu));
}

/// The memory of this process on a device. It is allocated once, for all worlds that the process
/// runs.
std::shared_ptr<CudaArena> arena_for(const CudaOptions& options, int device, Bootstrap& bootstrap,
                                     Waiter& waiter) {
  // Never destroyed, because CUDA may have shut down by then.
  static auto& arenas = *new std::map<std::pair<int, double>, std::shared_ptr<CudaArena>>;
  auto& arena = arenas[{device, options.memory_bytes}];
  // The fences make all ranks of a GPU measure its free memory at a time when all of them have
  // created their contexts and none has allocated its share.
  bootstrap.fence("contexts", waiter);
  const std::size_t nbytes = options.memory_bytes > 0
                                 ? static_cast<std::size_t>(options.memory_bytes)
                                 : free_bytes_per_rank(options.ranks_per_gpu);
  bootstrap.fence("memory", waiter);
  if (!arena) arena = CudaArena::create(nbytes, kMemoryAdvice);
  return arena;
}

}  // namespace

std::string cuda_absent_reason() { return ""; }

std::string cuda_unavailable_reason() {
  cuda::prepare_environment();
  if (device_count() > 0) return "";
  return "this machine has no GPU or no driver for it: cudaGetDeviceCount finds none";
}

std::unique_ptr<AcceleratorBackend> make_cuda_accelerator(const CudaOptions& options,
                                                          Bootstrap& bootstrap, Waiter& waiter) {
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  cuda::prepare_environment();
  if (options.ranks_per_gpu > 1) cuda::let_ranks_share_a_gpu(bootstrap.rank());
  cuda::check_nccl_version();
  const cuda::Placement placement = cuda::place_among_gpu_peers(bootstrap, waiter);
  const int device =
      cuda::device_of(placement, static_cast<int>(options.ranks_per_gpu), device_count());
  cuda::check(cudaSetDevice(device), "cudaSetDevice");
  return std::make_unique<cuda::NcclBackend>(
      options, device, arena_for(options, device, bootstrap, waiter), bootstrap);
}

}  // namespace trigram
