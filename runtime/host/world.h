#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "core/accelerator_backend.h"
#include "core/communicator.h"
#include "core/control.h"
#include "core/device.h"
#include "core/layout.h"
#include "runtime/host/clock.h"
#include "runtime/host/endpoint.h"

namespace trigram::host {

/// Waits on the calling thread, which must be the thread of a stream. The stream's endpoint shows
/// the wait to the watchdog; the wait throws Aborted if the world fails meanwhile.
class HostWaiter final : public Waiter {
 public:
  void await(const Wait& why, const std::function<bool()>& ready) override;
};

/// The same-named streams of all ranks, which talk to each other, as seen from this process.
class Group {
 public:
  explicit Group(std::string name) : name_(std::move(name)) {}
  virtual ~Group() = default;
  const std::string& name() const { return name_; }
  /// The endpoint of a rank that this process hosts.
  virtual Endpoint& at(int rank) = 0;
  /// The data plane and the control plane of the stream behind `self`.
  virtual std::unique_ptr<Communicator> communicator(Endpoint& self) = 0;
  virtual std::unique_ptr<Control> control(Endpoint& self) = 0;
  /// Called on a stream's thread when it has nothing left to do. Waits until the buffers of all its
  /// sends can be released.
  virtual void flush(Communicator&) {}

 private:
  const std::string name_;
};

/// One launch of a real-time world whose streams are threads, as those streams see it.
class World {
 public:
  World(const Layout& layout, bool sleeps_compute)
      : layout_(layout), sleeps_compute_(sleeps_compute), start_(Clock::now()) {}
  virtual ~World() = default;

  const Layout& layout() const { return layout_; }
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  /// Converts a time of the steady clock, in seconds since its epoch, to the scale of now().
  double since_start(double steady_s) const {
    return steady_s - std::chrono::duration<double>(start_.time_since_epoch()).count();
  }
  /// The inverse of now(): the time point of the steady clock at which now() is `since_start_s`.
  Clock::time_point date(double since_start_s) const { return start_ + seconds(since_start_s); }
  /// True if the thread sleeps for computation of which only the duration is known; false if that
  /// computation is skipped.
  bool sleeps_compute() const { return sleeps_compute_; }
  virtual Device& device(int rank) = 0;
  /// The accelerator on which the streams' tensors live; null if they live in host memory.
  virtual AcceleratorBackend* accelerator() { return nullptr; }
  Waiter& waiter() { return waiter_; }
  /// Called repeatedly by waiting streams.
  virtual void idle() {}

  /// The group of the n-th stream forked from `parent`. Throws InvariantError if another rank gave
  /// that stream a different name.
  virtual Group& fork(Group& parent, std::size_t n, const std::string& name, int rank) = 0;
  /// The groups of streams n and n + 1, which are the ends of a one-way channel: `in` receives the
  /// messages that `out` sends. Throws as `fork` does.
  struct OneWayGroups {
    Group &out, &in;
  };
  virtual OneWayGroups fork_one_way(Group& parent, std::size_t n, const std::string& name,
                                    int rank) = 0;

  /// Ends the world: keeps the first error and wakes every stream. A null `error` means that an
  /// exception is still unwinding its stream.
  virtual void fail(std::exception_ptr error) noexcept = 0;
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void check_not_failed() const {
    if (failed()) throw Aborted{};
  }

 protected:
  /// Sets the zero of now(). Call it before any stream reads the clock.
  void start_at(Clock::time_point start) { start_ = start; }
  void set_failed() noexcept { failed_.store(true, std::memory_order_release); }

 private:
  const Layout layout_;
  const bool sleeps_compute_;
  HostWaiter waiter_;
  Clock::time_point start_;
  std::atomic<bool> failed_ = false;
};

template <class Ready>
void Endpoint::park(std::unique_lock<std::mutex>& lock, const Wait& why, Ready ready,
                    State while_parked) {
  if (ready()) return;
  wait = why;
  state = while_parked;
  wake.wait(lock, [&] { return ready() || world.failed(); });
  wait = {};
  state = State::running;
  ++waits_ended;
  if (!ready()) throw Aborted{};
}

}  // namespace trigram::host
