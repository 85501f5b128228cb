#pragma once

#include <cuda_runtime.h>

#include "cuda/support/error.h"

namespace trigram::cuda {

/// A CUDA event, by default without a time stamp.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreate");
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Records the event after everything that has been queued on `stream` so far.
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }

  /// True if the GPU has reached the event, or if the event was never recorded. Throws CudaError if
  /// a kernel has failed.
  bool reached() const {
    const cudaError_t code = cudaEventQuery(event_);
    if (code == cudaErrorNotReady) return false;
    check(code, "cudaEventQuery");
    return true;
  }

  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace trigram::cuda
