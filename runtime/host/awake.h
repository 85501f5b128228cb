#pragma once

#include "runtime/host/clock.h"

namespace trigram::host {

/// Since when a thread that watches others has been awake itself. A process that was stopped, as by
/// SIGSTOP, and goes on has not seen what others did meanwhile: it can judge them by what comes
/// from then on alone.
class Awake {
 public:
  /// The thread looks more often than this, unless it is kept from it.
  static constexpr std::chrono::seconds kLongestGap{2};
  explicit Awake(Clock::time_point now = Clock::now()) : since_(now), last_(now) {}
  /// With every look, at `now`.
  Clock::time_point since(Clock::time_point now) {
    if (now - last_ > kLongestGap) since_ = now;
    last_ = now;
    return since_;
  }

 private:
  Clock::time_point since_, last_;
};

}  // namespace trigram::host
