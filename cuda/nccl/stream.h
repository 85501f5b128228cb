#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "core/accelerator_backend.h"
#include "core/stream.h"
#include "cuda/device/cuda_device.h"
#include "cuda/nccl/communicator.h"
#include "cuda/support/event.h"

namespace trigram::cuda {

/// Converts times of a CUDA stream to the host's steady clock. CUDA gives the time between two
/// events as a float in milliseconds, which is precise only for short times. So each event is
/// measured from an origin, an event that is at most a few seconds older.
class QueueClock {
 public:
  /// Waits until the queue is empty, because only then can the host tell the time of an event.
  explicit QueueClock(cudaStream_t queue);
  /// An event after everything that has been queued so far.
  std::unique_ptr<EventTime> mark();

 private:
  class TimedEvent;
  class CudaEventTime;

  const cudaStream_t queue_;
  std::shared_ptr<const TimedEvent> origin_;
  double origin_marked_s_;  // host time at which the origin was queued
};

/// A stream's queue on the GPU: operations and messages run in the order of issue.
class CudaStream final : public AcceleratorStream {
 public:
  /// The state that all streams of the rank share.
  struct World {
    NcclOptions options;
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
