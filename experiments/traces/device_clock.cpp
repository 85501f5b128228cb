#include "experiments/traces/device_clock.h"

#include <algorithm>
#include <map>

namespace trigram {

DeviceClock::DeviceClock(const ProfilerStep& step, const ProfilerEvent& passes)
    : begin_us_(passes.begin_us) {
  std::map<long, double> launches;  // by correlation
  for (const ProfilerEvent& event : step.events) {
    if (event.is_beside_passes() && event.thread == passes.thread && passes.holds(event))
      gaps_.emplace_back(event.begin_us, event.end_us);
    if (event.is_kernel() || event.category.empty()) continue;
    if (const auto id = event.argument("correlation"))
      if (passes.begin_us <= event.begin_us && event.begin_us <= passes.end_us)
        launches[*id] = event.begin_us;
  }
  double first = 0;
  for (const ProfilerEvent& event : step.events) {
    if (!event.is_kernel() || event.is_exchange()) continue;
    const auto id = event.argument("correlation");
    const auto launch = id ? launches.find(*id) : launches.end();
    if (launch == launches.end()) continue;
    if (kernels_.empty()) first = event.begin_us;
    first = std::min(first, event.begin_us);
    kernels_.emplace_back(launch->second, event.end_us);
  }
  if (kernels_.empty()) return;
  begin_us_ = first;
  std::ranges::sort(kernels_);
  for (std::size_t i = 1; i < kernels_.size(); ++i)
    kernels_[i].second = std::max(kernels_[i].second, kernels_[i - 1].second);
}

double DeviceClock::done_us(double cpu_us) const {
  if (on_accelerator()) {
    const auto next =
        std::ranges::upper_bound(kernels_, cpu_us, {}, &std::pair<double, double>::first);
    return next == kernels_.begin() ? 0 : std::prev(next)->second - begin_us_;
  }
  double done = cpu_us - begin_us_;
  for (const auto& [begin, end] : gaps_) done -= std::clamp(cpu_us, begin, end) - begin;
  return std::max(done, 0.0);
}

}  // namespace trigram
