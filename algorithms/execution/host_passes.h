#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/algorithm.h"

namespace trigram {

/// The documentation of the option `through_host` of algorithms that average models.
inline constexpr const char* kThroughHost =
    "Average models on the host: the worker waits while they pass through the host, at the "
    "accelerator's host_bandwidth in simulated time";

/// The work of a rank's host if models are averaged there (`through_host`): it copies them out of
/// the framework, adds those of other ranks, and copies the result back. An exchange counts the
/// bytes, on whichever stream it runs. The worker, which has no model to compute with meanwhile,
/// pays for them (Cost::Kind::host) before its next step. Copies of a HostPasses share one count.
class HostPasses {
 public:
  /// Counts nothing unless `through_host` is true.
  explicit HostPasses(bool through_host) : counts_(through_host) {}

  /// Call when `models` models like `x`, of other ranks or a mean, were averaged into this rank's.
  void add(const Tensor& x, std::size_t models = 1) const {
    if (counts_) *uncharged_ += models * x.priced_nbytes();
  }
  /// Charges the worker's stream for the bytes counted since the last call.
  void charge(Context ctx) const {
    const auto nbytes = static_cast<double>(uncharged_->exchange(0));
    if (nbytes > 0) ctx.stream->charge({.bytes = nbytes, .kind = Cost::Kind::host});
  }

 private:
  bool counts_;
  std::shared_ptr<std::atomic<std::size_t>> uncharged_ =
      std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace trigram
