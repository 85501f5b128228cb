#pragma once

#include "core/accelerator_backend.h"

namespace trigram::host {

/// Waits on the calling thread, which must be the thread of a stream. The stream's endpoint shows
/// the wait to the watchdog; the wait throws Aborted if the world fails meanwhile.
class HostWaiter final : public Waiter {
 public:
  void await(const Wait& why, const std::function<bool()>& ready) override;
};

}  // namespace trigram::host
