#pragma once

#include "core/accelerator_backend.h"

namespace trigram::host {

/// Waits on the calling thread, which is that of a stream: its endpoint says so meanwhile, and the
/// end of the world ends the wait, by Aborted.
class HostWaiter final : public Waiter {
 public:
  void await(const Wait& why, const std::function<bool()>& ready) override;
};

}  // namespace trigram::host
