#pragma once

#include <utility>
#include <vector>

#include "experiments/traces/profiler_events.h"

namespace trigram {

/// Tells how much of the passes is done at a time of the thread that issues them. On a CPU this is
/// the time since the forward pass began, without what lies between the passes (the optimizer). On
/// an accelerator, which runs behind the thread, it is the end of the last kernel issued until
/// then.
class DeviceClock {
 public:
  /// `passes` lasts from the forward pass' first operation to the end of the backward pass.
  DeviceClock(const ProfilerStep& step, const ProfilerEvent& passes);

  /// Microseconds of the passes that are done when the thread is at `cpu_us`. Never decreases.
  double done_us(double cpu_us) const;
  bool on_accelerator() const { return !kernels_.empty(); }

 private:
  double begin_us_;
  std::vector<std::pair<double, double>> kernels_;  // launch, and the latest end until this launch
  std::vector<std::pair<double, double>> gaps_;     // begin and end, on the CPU
};

}  // namespace trigram
