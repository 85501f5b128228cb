#include "cuda/placement.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "core/config/config_error.h"
#include "cuda/support/error.h"

namespace trigram::cuda {
namespace {

/// A name that is equal for all processes of a machine, including containers with the same kernel,
/// and different for different machines.
std::string machine_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return boot.empty() ? std::string(host.data()) : boot;
}

/// The UUID of device 0, which processes can compare although their device numbers differ; empty if
/// there is no GPU.
std::string first_gpu_uuid() {
  cudaDeviceProp properties{};
  const cudaError_t code = cudaGetDeviceProperties(&properties, 0);
  if (code == cudaErrorInvalidDevice || code == cudaErrorNoDevice) {
    static_cast<void>(cudaGetLastError());  // cleared; device_of reports missing GPUs
    return "";
  }
  check(code, "cudaGetDeviceProperties");
  std::string text;
  for (const char byte : properties.uuid.bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

void set_default(const char* name, const std::string& value) {
  setenv(name, value.c_str(), /*overwrite=*/0);
}

}  // namespace

Placement place_among_gpu_peers(Bootstrap& bootstrap, Waiter& waiter) {
  const auto key = [](int rank) { return "gpus/" + std::to_string(rank); };
  // We assume that two ranks see either exactly the same GPUs or no GPU in common, so comparing the
  // first GPU is enough.
  const std::string own_gpu = machine_name() + "/" + first_gpu_uuid();
  bootstrap.put(key(bootstrap.rank()), own_gpu);
  Placement place{0, 0};
  for (int rank = 0; rank < bootstrap.size(); ++rank) {
    if (bootstrap.wait(key(rank), waiter) != own_gpu) continue;
    ++place.count;
    if (rank < bootstrap.rank()) ++place.index;
  }
  return place;
}

int device_of(const Placement& placement, int ranks_per_gpu, int devices) {
  if (placement.count <= devices * ranks_per_gpu) return placement.index / ranks_per_gpu;
  throw ConfigError(
      "/runtime",
      fmt::format(
          "{} ranks of a machine see the same {} GPU{}; start at most {} ranks there or, if the "
          "machine has more GPUs, let each rank see all of them (CUDA_VISIBLE_DEVICES unset; with "
          "Slurm, --gpu-bind=none) or a different one each{}",
          placement.count, devices, devices == 1 ? "" : "s", devices * ranks_per_gpu,
          ranks_per_gpu == 1 ? "; or, only for tests, let ranks share a GPU: --ranks-per-gpu N"
                             : ""));
}

void prepare_environment() {
  // With lazy loading, the first launch of a kernel would load its module, and that may wait for an
  // NCCL kernel that itself waits for this rank.
  set_default("CUDA_MODULE_LOADING", "EAGER");
  // By default NCCL connects the ranks for a collective only at its first call.
  set_default("NCCL_RUNTIME_CONNECT", "0");
  // NCCL forgets the name of a network plugin when the last communicator that uses it ends, so that
  // the next one cannot load it (NVIDIA/nccl issue 1978). A count above 0 keeps it loaded.
  set_default("NCCL_NET_PLUGIN_REF_COUNT", "1");
  // Streams that share a hardware queue would wait for one another.
  set_default("CUDA_DEVICE_MAX_CONNECTIONS", "32");
}

void let_ranks_share_a_gpu(int rank) {
  set_default("NCCL_HOSTID", fmt::format("trigram-rank-{}", rank));
  for (const auto& [name, value] : {std::pair{"NCCL_SOCKET_IFNAME", "lo"},
                                    {"NCCL_NET", "Socket"},
                                    {"NCCL_IB_DISABLE", "1"},
                                    {"NCCL_MNNVL_ENABLE", "0"},
                                    {"NCCL_NVLS_ENABLE", "0"},
                                    {"NCCL_RAS_ENABLE", "0"},
                                    {"NCCL_MAX_CTAS", "4"},
                                    {"NCCL_SOCKET_NTHREADS", "1"},
                                    {"NCCL_NSOCKS_PERTHREAD", "1"}})
    set_default(name, value);
}

}  // namespace trigram::cuda
