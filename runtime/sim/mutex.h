#pragma once

#include <deque>
#include <memory>

#include "core/stream.h"

namespace trigram::sim {

class SimStream;
class World;

/// A first-come-first-served mutex.
class SimMutex final : public Mutex {
 public:
  explicit SimMutex(World& world) : world_(world), state_(std::make_shared<State>()) {}
  void lock() override;
  void unlock() noexcept override;

 private:
  struct Ticket {
    SimStream* stream;
    bool granted = false;
  };
  /// The state, which outlives the mutex while an unlock is deferred.
  struct State {
    bool locked = false;
    std::deque<Ticket*> waiting;
    void pass_to_next();
  };
  World& world_;
  std::shared_ptr<State> state_;
};

}  // namespace trigram::sim
