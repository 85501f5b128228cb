#pragma once

#include <deque>
#include <mutex>

#include "core/stream.h"
#include "runtime/host/endpoint.h"

namespace trigram::host {

/// A first-come-first-served mutex: unlocking hands it to the stream that has waited longest.
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

  std::mutex mutex_;  // lock order: an endpoint's mutex before this one
  bool locked_ = false;
  std::deque<Turn*> queue_;
  /// An event after everything that the last holder had issued to its accelerator; null without an
  /// accelerator.
  std::shared_ptr<AcceleratorEvent> released_;
};

}  // namespace trigram::host
