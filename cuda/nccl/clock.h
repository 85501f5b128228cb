#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "core/stream.h"

namespace trigram::cuda {

/// Converts times of a CUDA stream to the host's steady clock. CUDA measures the time between two
/// events in milliseconds as a float, so each event is measured relative to an origin event that is
/// at most a few seconds older.
class QueueClock {
 public:
  /// Waits until the queue is empty, because only then the host knows the time of an event.
  explicit QueueClock(cudaStream_t queue);
  /// An event after everything that has been queued so far.
  std::unique_ptr<EventTime> mark();

 private:
  class Timed;
  class TimedEventTime;

  const cudaStream_t queue_;
  std::shared_ptr<const Timed> origin_;
  double origin_marked_s_;  // host time at which the origin was queued
};

}  // namespace trigram::cuda
