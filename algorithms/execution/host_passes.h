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

/// The work of a rank's host if models are averaged there (`through_host`): the host copies models
/// out of the framework, adds the models of other ranks, and copies the result back. An exchange
/// counts the bytes of this work with `add`, on whichever stream it runs. The worker's stream is
/// charged for them (Cost::Kind::host) before its next step, because the worker has no model to
/// compute with meanwhile. Copies of a HostPasses share one count.
class HostPasses {
 public:
  /// Counts nothing unless `through_host` is true.
  explicit HostPasses(bool through_host) : enabled_(through_host) {}

  /// Call when `models` models of the size of `x` (models of other ranks, or a mean) were averaged
  /// into this rank's model.
  void add(const Tensor& x, std::size_t models = 1) const {
    if (enabled_) *uncharged_ += models * x.priced_nbytes();
  }
  /// Charges the worker's stream for the bytes counted since the last call.
  void charge(Context ctx) const {
    const auto nbytes = static_cast<double>(uncharged_->exchange(0));
    if (nbytes > 0) ctx.stream->charge({.bytes = nbytes, .kind = Cost::Kind::host});
  }

 private:
  bool enabled_;
  std::shared_ptr<std::atomic<std::size_t>> uncharged_ =
      std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace trigram
