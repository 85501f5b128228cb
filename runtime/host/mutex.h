#pragma once

#include <deque>
#include <mutex>

#include "core/stream.h"
#include "runtime/host/endpoint.h"

namespace trigram::host {

/// First-come-first-served: unlocking hands the mutex to the stream that has waited longest.
class HostMutex final : public Mutex {
 public:
  void lock() override;
  void unlock() noexcept override;

 private:
  struct Turn {
    Endpoint* stream;
    bool granted = false;
  };
  void acquire();
  std::shared_ptr<AcceleratorEvent> last_release();
  void release(std::shared_ptr<AcceleratorEvent> issued) noexcept;
  void give_up(Turn& turn) noexcept;

  std::mutex mutex_;  // taken after an endpoint's mutex, never before
  bool locked_ = false;
  std::deque<Turn*> queue_;
  std::shared_ptr<AcceleratorEvent>
      released_;  // what its last holder had issued to the accelerator
};

}  // namespace trigram::host
