#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/device.h"

namespace trigram {

struct Context;
struct OneWay;
using Task = std::function<void(Context)>;

/// A submitted task. Kept alive by whoever may still wait for it.
class Work {
 public:
  virtual ~Work() = default;
  virtual bool done() const = 0;
};

/// First-come-first-served. Locked and unlocked by tasks of the streams of one rank.
class Mutex {
 public:
  virtual ~Mutex() = default;
  virtual void lock() = 0;
  /// Never blocks, never switches context: destructors call it.
  virtual void unlock() noexcept = 0;
};

struct Lock {
  explicit Lock(Mutex& m) : mutex(m) { mutex.lock(); }
  ~Lock() { mutex.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Mutex& mutex;
};

/// A point of a stream's past on an accelerator, which the stream may not have come to.
class EventTime {
 public:
  virtual ~EventTime() = default;
  virtual bool known() const = 0;
  /// In the seconds of Stream::now(); once known. Any thread may ask.
  virtual double seconds() const = 0;
};

/// One ordered stream of operations of one rank: an actor, a thread, or a thread with a CUDA
/// stream. Its destructor closes it: receivers wake, nothing throws, nothing switches context.
class Stream : public CostSink {
 public:
  virtual std::string_view name() const = 0;
  /// Seconds since the world started, simulated or of the steady clock.
  virtual double now() const = 0;
  /// Where the stream is behind all that it has issued, if it issues to an accelerator, which will
  /// tell the time later. Null where that is now().
  virtual std::unique_ptr<EventTime> mark() { return nullptr; }
  virtual void sleep_for(double seconds) = 0;
  /// Advances simulated time by what the operation costs on the accelerator; nothing in real time.
  void charge(const Cost& cost) override = 0;
  /// Computation of a known length, such as a profile's layer: simulated, or slept.
  virtual void compute(double seconds) = 0;
  /// Another stream of this rank. Collective over the ranks, in one order, at start-up.
  virtual std::unique_ptr<Stream> fork(const std::string& name) = 0;
  /// Two more streams of this rank, for messages that go one way: what a rank sends on its `out`, a
  /// peer receives on its `in`, so that the sends of a rank never wait for its receives. `out`
  /// receives nothing, `in` sends nothing, and neither takes part in collectives. Only in worlds
  /// that buffer what ranks send (Communicator::buffered); throws InvariantError elsewhere.
  /// Collective over the ranks, as `fork` is.
  virtual OneWay fork_one_way(const std::string& name) = 0;
  /// Runs `task` on *this* stream after all that `after` has issued, and after earlier tasks.
  virtual std::shared_ptr<Work> submit(const Context& after, Task task) = 0;
  /// Orders this stream's future after `work`, and rethrows what its task threw.
  virtual void wait(Work& work) = 0;
  /// Blocks the host until this stream's past is complete.
  virtual void synchronize() = 0;
  /// A mutex for the streams of this rank.
  virtual std::unique_ptr<Mutex> make_mutex() = 0;
};

/// The two ends that a rank has of a one-way channel.
struct OneWay {
  std::unique_ptr<Stream> out, in;
};

}  // namespace trigram
