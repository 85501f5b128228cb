#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "cuda/support/error.h"
#include "tests/bench/median.h"

namespace trigram::test {

/// Measures work on a stream with GPU events. `keep_busy` queues work before the first event, which
/// lasts until the host has queued all repetitions; so the times do not include host time.
class GpuTimer {
 public:
  GpuTimer(cudaStream_t stream, std::function<void()> keep_busy)
      : stream_(stream), keep_busy_(std::move(keep_busy)) {}

  /// The median seconds of `work(i)`, i = 0 .. repetitions - 1, after a few runs that do not count.
  double median_s(int repetitions, const std::function<void(int)>& work) const {
    constexpr int kWarmUps = 3;
    for (int i = 0; i < kWarmUps; ++i) work(i);
    std::vector<cudaEvent_t> events(static_cast<std::size_t>(repetitions) + 1);
    for (cudaEvent_t& event : events) cuda::check(cudaEventCreate(&event), "cudaEventCreate");
    keep_busy_();
    cuda::check(cudaEventRecord(events[0], stream_), "cudaEventRecord");
    for (int i = 0; i < repetitions; ++i) {
      work(i);
      cuda::check(cudaEventRecord(events[static_cast<std::size_t>(i) + 1], stream_),
                  "cudaEventRecord");
    }
    cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    std::vector<double> seconds;
    for (std::size_t i = 0; i + 1 < events.size(); ++i) {
      float milliseconds = 0;
      cuda::check(cudaEventElapsedTime(&milliseconds, events[i], events[i + 1]),
                  "cudaEventElapsedTime");
      seconds.push_back(milliseconds * 1e-3);
    }
    for (cudaEvent_t event : events) cudaEventDestroy(event);
    return median(seconds);
  }

 private:
  cudaStream_t stream_;
  std::function<void()> keep_busy_;
};

}  // namespace trigram::test
