#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "core/accelerator_backend.h"
#include "cuda/device/cuda_device.h"
#include "cuda/nccl/clock.h"
#include "cuda/nccl/communicator.h"
#include "cuda/support/event.h"

namespace trigram::cuda {

/// A stream's queue on the GPU: operations and messages run in the order of issue.
class CudaStream final : public AcceleratorStream {
 public:
  /// State that all streams of the rank share.
  struct World {
    NcclPlan plan;
    std::shared_ptr<CudaArena> arena;
    Issuer& issuer;
    int rank = 0, size = 1, device = 0;
  };
  CudaStream(const World& world, const std::string& name, const ncclUniqueId& id,
             std::shared_ptr<NcclHandle> handle, Control& control, Waiter& waiter);

  void enter() override;
  Device& device() override;
  Communicator& communicator() override { return communicator_; }
  std::shared_ptr<AcceleratorEvent> record() override;
  std::unique_ptr<EventTime> mark() override { return clock_.mark(); }
  void wait(const AcceleratorEvent& event) override;

 private:
  /// A CUDA stream that does not synchronise with the default stream.
  struct Queue {
    Queue();
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    cudaStream_t handle = nullptr;
  };

  const int ordinal_;  // device number of the GPU
  Queue queue_;
  QueueClock clock_;
  CudaDevice device_;
  NcclCommunicator communicator_;
};

}  // namespace trigram::cuda
