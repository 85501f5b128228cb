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

/// A submitted task. Everything that may still wait for the task shares its ownership.
class Work {
 public:
  virtual ~Work() = default;
  virtual bool done() const = 0;
};

/// A fair mutex: it serves callers of `lock` in the order of their calls. Tasks on the streams of
/// one rank lock and unlock it.
class Mutex {
 public:
  virtual ~Mutex() = default;
  virtual void lock() = 0;
  /// Never blocks and never switches context, because destructors call it.
  virtual void unlock() noexcept = 0;
};

struct Lock {
  explicit Lock(Mutex& m) : mutex(m) { mutex.lock(); }
  ~Lock() { mutex.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Mutex& mutex;
};

/// The time of an accelerator event that may not have fired yet.
class EventTime {
 public:
  virtual ~EventTime() = default;
  virtual bool known() const = 0;
  /// In seconds on the clock of Stream::now(). Valid only once `known` returns true. Any thread may
  /// call it.
  virtual double seconds() const = 0;
};

/// One ordered stream of operations of one rank: an actor, a thread, or a thread with a CUDA
/// stream. The destructor closes the stream, so that a blocked Control::receive returns; it neither
/// throws nor switches context.
class Stream : public CostSink {
 public:
  virtual std::string_view name() const = 0;
  /// Seconds since the world started, simulated or on the steady clock.
  virtual double now() const = 0;
  /// An event after everything issued so far. Null if operations complete synchronously: now() is
  /// then the time at which they complete.
  virtual std::unique_ptr<EventTime> mark() { return nullptr; }
  virtual void sleep_for(double seconds) = 0;
  /// Advances simulated time by the operation's cost on the accelerator; does nothing in real time.
  void charge(const Cost& cost) override = 0;
  /// Computes for a known time, such as that of a profile's layer: advances simulated time, or
  /// sleeps in real time.
  virtual void compute(double seconds) = 0;
  /// Creates another stream of this rank. Collective: all ranks fork the same streams in the same
  /// order, at start-up.
  virtual std::unique_ptr<Stream> fork(const std::string& name) = 0;
  /// Creates two more streams of this rank, for one-way messages: a rank sends on its `out`, and
  /// the peer receives on its own `in`, so that a rank's sends never wait for its receives. `out`
  /// cannot receive, `in` cannot send, and neither takes part in collectives. Requires a world that
  /// buffers sends (Communicator::buffered); throws InvariantError elsewhere. Collective over the
  /// ranks, like `fork`.
  virtual OneWay fork_one_way(const std::string& name) = 0;
  /// Runs `task` on *this* stream, after everything that the stream of `after` has issued so far
  /// and after the earlier tasks of this stream.
  virtual std::shared_ptr<Work> submit(const Context& after, Task task) = 0;
  /// Orders everything this stream does from now on after `work`, and rethrows the task's
  /// exception.
  virtual void wait(Work& work) = 0;
  /// Blocks the host until everything issued on this stream is complete.
  virtual void synchronize() = 0;
  /// Creates a mutex for the streams of this rank.
  virtual std::unique_ptr<Mutex> make_mutex() = 0;
};

/// A rank's two ends of a one-way channel.
struct OneWay {
  std::unique_ptr<Stream> out, in;
};

}  // namespace trigram
