#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/communicator.h"
#include "core/control.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/wait_text.h"

namespace trigram {

/// How a thread of a world waits for what happens outside that world: it is seen to wait, and it
/// leaves by an exception when the world ends first.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// Looks again and again, with pauses, until `ready()` holds. Wait::connection may take its
  /// time: the world does not hang meanwhile.
  virtual void await(const Wait& why, const std::function<bool()>& ready) = 0;
};

/// Where processes that are to form an accelerator's world find each other: a store of small values
/// that all of them see. Whatever starts processes can provide one.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Makes `value` known to all under a key that nobody has used.
  virtual void put(const std::string& key, const std::string& value) = 0;
  /// What some rank has put under `key`, if it is here.
  virtual std::optional<std::string> get(const std::string& key) = 0;

  /// The same, waiting for it.
  std::string wait(const std::string& key, Waiter& waiter);
  /// Returns when all ranks have come to the fence of this name, which is used once.
  void fence(const std::string& name, Waiter& waiter);
};

/// A point in the queue of an accelerator's stream: all that was issued before it.
class AcceleratorEvent {
 public:
  virtual ~AcceleratorEvent() = default;
  /// Whether the accelerator has got there. Any thread may ask.
  virtual bool reached() const = 0;
};

/// The accelerator's side of one stream of one rank: a queue of operations that run after the host
/// has issued them. Used by the stream's thread alone, but for what says otherwise.
class AcceleratorStream {
 public:
  virtual ~AcceleratorStream() = default;
  /// Called once by the thread that uses the stream from then on, which may not be the one that
  /// made it: accelerators are chosen thread by thread.
  virtual void enter() = 0;
  /// Vector operations, ordered on this queue.
  virtual Device& device() = 0;
  /// The data plane between the same-named streams of all ranks, ordered on this queue.
  virtual Communicator& communicator() = 0;
  virtual std::shared_ptr<AcceleratorEvent> record() = 0;
  /// The same with its time, as Stream::mark; in seconds of the steady clock since its epoch.
  virtual std::unique_ptr<EventTime> mark() = 0;
  /// Orders what is issued from now on after `milestone`, of any stream of this accelerator.
  virtual void wait(const AcceleratorEvent& milestone) = 0;
};

/// An accelerator as one rank uses it. A world of host threads hands its streams one each, and
/// becomes a world whose tensors live on accelerators.
class AcceleratorBackend {
 public:
  virtual ~AcceleratorBackend() = default;
  /// The queue of a new stream. Collective over the ranks, in one order; connects all peers.
  /// `control` is the stream's own control plane, `waiter` its thread's.
  virtual std::unique_ptr<AcceleratorStream> stream(const std::string& name, Control& control,
                                                    Waiter& waiter) = 0;
  /// Throws if the accelerator, or what joins it to others, has reported a failure on its own. Any
  /// thread may ask, often.
  virtual void check() = 0;
  /// Ends all that the accelerator does for this world, which has failed: waits of other threads
  /// return. Any thread may call it; the first call counts.
  virtual void abort() noexcept = 0;
};

}  // namespace trigram
