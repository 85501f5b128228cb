#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "core/stream.h"

namespace trigram::cuda {

/// Times of a stream's queue on the steady clock of the host. CUDA tells the time between two
/// events as milliseconds in a float, so each is measured from another that is a few seconds older
/// at most.
class QueueClock {
 public:
  /// Waits until the queue is empty: where it is and what time it is, are known together then.
  explicit QueueClock(cudaStream_t queue);
  /// The place behind all that has been queued so far.
  std::unique_ptr<EventTime> mark();

 private:
  class Timed;
  class TimedMoment;

  const cudaStream_t queue_;
  std::shared_ptr<const Timed> origin_;
  double origin_marked_s_;  // the host's time when the origin was queued
};

}  // namespace trigram::cuda
