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

/// Lets a thread of a world wait for something outside that world. The watchdog sees the wait; it
/// throws if the world fails meanwhile.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// Calls `ready()` again and again, with pauses, until it returns true. A wait of kind
  /// Wait::connection may be long without the world counting as hung.
  virtual void await(const Wait& why, const std::function<bool()>& ready) = 0;
};

/// A key-value store that all processes share, with which they find each other before their
/// accelerators are connected. Any launcher can provide an implementation.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Publishes `value` to all ranks under `key`, which must be new.
  virtual void put(const std::string& key, const std::string& value) = 0;
  /// Returns the value that a rank has put under `key`, or nothing if there is none yet.
  virtual std::optional<std::string> get(const std::string& key) = 0;

  /// Waits until there is a value under `key` and returns it.
  std::string wait(const std::string& key, Waiter& waiter) {
    std::optional<std::string> value = get(key);
    if (!value)
      waiter.await({.kind = Wait::bootstrap, .name = key}, [&] {
        value = get(key);
        return value.has_value();
      });
    return *value;
  }
  /// Returns when all ranks have called it with this name. Each name can be used only once.
  void fence(const std::string& name, Waiter& waiter) {
    const auto key = [&name](int rank) { return "fence/" + name + "/" + std::to_string(rank); };
    put(key(rank()), "");
    for (int other = 0; other < size(); ++other) wait(key(other), waiter);
  }
};

/// A point in the queue of an accelerator's stream. It is reached once everything issued before it
/// is done.
class AcceleratorEvent {
 public:
  virtual ~AcceleratorEvent() = default;
  /// True once the accelerator has reached the event. Any thread may ask.
  virtual bool reached() const = 0;
};

/// The accelerator's side of one stream of one rank: a queue of operations, which the host issues
/// and the accelerator runs later. Only the stream's own thread may use it, except where a comment
/// says otherwise.
class AcceleratorStream {
 public:
  virtual ~AcceleratorStream() = default;
  /// Called once by the thread that uses the stream from then on, because the current accelerator
  /// is a per-thread setting. Another thread may have created the stream.
  virtual void enter() = 0;
  /// Vector operations, ordered on this queue.
  virtual Device& device() = 0;
  /// The data plane between the same-named streams of all ranks, ordered on this queue.
  virtual Communicator& communicator() = 0;
  virtual std::shared_ptr<AcceleratorEvent> record() = 0;
  /// The same as Stream::mark, but its times are seconds of the steady clock since the clock's
  /// epoch.
  virtual std::unique_ptr<EventTime> mark() = 0;
  /// Orders everything issued from now on after `event`, an event of any stream of this
  /// accelerator.
  virtual void wait(const AcceleratorEvent& event) = 0;
};

/// An accelerator as one rank uses it. A world of host threads keeps its tensors on accelerators if
/// every stream gets an AcceleratorStream from this class.
class AcceleratorBackend {
 public:
  virtual ~AcceleratorBackend() = default;
  /// Creates the queue of a new stream. Collective: all ranks create the same streams in the same
  /// order. Connects all peers. `control` is the stream's own control plane, and `waiter` belongs
  /// to the stream's thread.
  virtual std::unique_ptr<AcceleratorStream> stream(const std::string& name, Control& control,
                                                    Waiter& waiter) = 0;
  /// Throws if the accelerator, or its connection to other accelerators, has reported a failure by
  /// itself. Any thread may call it, often.
  virtual void check() = 0;
  /// Called when the world has failed: aborts all operations on the accelerator, so that other
  /// threads return from their waits. Any thread may call it; only the first call has an effect.
  virtual void abort() noexcept = 0;
};

}  // namespace trigram
