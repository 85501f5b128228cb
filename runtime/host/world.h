#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "core/communicator.h"
#include "core/control.h"
#include "core/device.h"
#include "core/layout.h"
#include "runtime/host/clock.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/waiter.h"

namespace trigram::host {

/// The same-named streams of all ranks, which talk to each other, as this process has them.
class Group {
 public:
  explicit Group(std::string name) : name_(std::move(name)) {}
  virtual ~Group() = default;
  const std::string& name() const { return name_; }
  /// The endpoint of a rank of this process.
  virtual Endpoint& at(int rank) = 0;
  /// The planes of the stream behind `self`.
  virtual std::unique_ptr<Communicator> communicator(Endpoint& self) = 0;
  virtual std::unique_ptr<Control> control(Endpoint& self) = 0;
  /// Called on a stream's thread when it has nothing left to do: waits until what it has sent need
  /// not be kept any longer.
  virtual void flush(Communicator&) {}

 private:
  const std::string name_;
};

/// One launch of a world in real time whose streams are threads, as those streams see it.
class World {
 public:
  World(const Layout& layout, bool sleeps_compute)
      : layout_(layout), sleeps_compute_(sleeps_compute), start_(Clock::now()) {}
  virtual ~World() = default;

  const Layout& layout() const { return layout_; }
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  /// The same for a time of the steady clock, in seconds since its epoch.
  double since_start(double steady_s) const {
    return steady_s - std::chrono::duration<double>(start_.time_since_epoch()).count();
  }
  /// The time of the steady clock at which now() is `since_start_s`.
  Clock::time_point date(double since_start_s) const { return start_ + seconds(since_start_s); }
  /// Whether computation known by its length only is slept, or skipped.
  bool sleeps_compute() const { return sleeps_compute_; }
  virtual Device& device(int rank) = 0;
  /// Where the streams' tensors live instead, if on accelerators; null otherwise.
  virtual AcceleratorBackend* accelerator() { return nullptr; }
  Waiter& waiter() { return waiter_; }
  /// Called by streams that wait, again and again.
  virtual void idle() {}

  /// The n-th stream forked from `parent`. Throws InvariantError when another rank gave it another
  /// name.
  virtual Group& fork(Group& parent, std::size_t n, const std::string& name, int rank) = 0;
  /// The n-th and the stream after it, the ends of a one-way channel: what `out` sends, `in`
  /// receives. Throws as `fork` does.
  struct OneWayGroups {
    Group &out, &in;
  };
  virtual OneWayGroups fork_one_way(Group& parent, std::size_t n, const std::string& name,
                                    int rank) = 0;

  /// Ends the world: keeps the first error and wakes every stream. A null error announces one that
  /// is still unwinding its stream.
  virtual void fail(std::exception_ptr error) noexcept = 0;
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void check_not_failed() const {
    if (failed()) throw Aborted{};
  }

 protected:
  /// Sets the clock's zero; before any stream reads it.
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
  ++waits_over;
  if (!ready()) throw Aborted{};
}

}  // namespace trigram::host
