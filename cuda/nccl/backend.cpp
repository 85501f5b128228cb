#include "cuda/nccl/backend.h"

#include <cstring>
#include <thread>

#include "cuda/nccl/error.h"
#include "cuda/nccl/stream.h"
#include "cuda/support/error.h"

namespace trigram::cuda {

NcclBackend::NcclBackend(const CudaOptions& options, int device, std::shared_ptr<CudaArena> arena,
                         Bootstrap& bootstrap)
    : options_{options.checked, options.padded, options.run_ahead},
      device_(device),
      arena_(std::move(arena)),
      bootstrap_(bootstrap),
      issuer_(device, [this] { check_handles(); }) {}

NcclBackend::~NcclBackend() {
  issuer_.post([this] {
    for (const auto& handle : handles_) handle->destroy();
  });
}

std::unique_ptr<AcceleratorStream> NcclBackend::stream(const std::string& name, Control& control,
                                                       Waiter& waiter) {
  cuda::check(cudaSetDevice(device_), "cudaSetDevice");  // for this thread
  const ncclUniqueId id = next_communicator_id(waiter);
  return std::make_unique<CudaStream>(
      CudaStream::World{options_, arena_, issuer_, bootstrap_.rank(), bootstrap_.size(), device_},
      name, id, add_handle(), control, waiter);
}

/// Rank 0 creates the id of the next communicator and distributes it.
ncclUniqueId NcclBackend::next_communicator_id(Waiter& waiter) {
  const std::string key = "nccl/" + std::to_string(streams_++);
  ncclUniqueId id;
  if (bootstrap_.rank() == 0) {
    cuda::check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    bootstrap_.put(key, std::string(reinterpret_cast<const char*>(&id), sizeof id));
  }
  const std::string bytes = bootstrap_.wait(key, waiter);
  std::memcpy(&id, bytes.data(), sizeof id);
  return id;
}

std::shared_ptr<NcclHandle> NcclBackend::add_handle() {
  std::lock_guard lock(mutex_);
  return handles_.emplace_back(std::make_shared<NcclHandle>());
}

void NcclBackend::check_handles() {
  std::lock_guard lock(mutex_);
  for (const auto& handle : handles_) handle->check();
}

void NcclBackend::abort() noexcept {
  if (aborted_.exchange(true)) return;
  issuer_.post([this] { abort_handles(); });
}

/// Aborts all communicators at once. An abort stops the kernels of its communicator and then frees
/// memory. For that, CUDA waits for every kernel of the GPU, and kernels of another communicator
/// end only when that communicator is aborted, too. Versions of NCCL before 2.19.1 may not return
/// even then; in that case the world's deadline ends the process.
void NcclBackend::abort_handles() {
  std::lock_guard lock(mutex_);
  std::vector<std::jthread> aborts;  // its destructor joins the threads
  for (const auto& handle : handles_) aborts.emplace_back([&handle] { handle->abort(); });
}

}  // namespace trigram::cuda
