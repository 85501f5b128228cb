#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <vector>

#include "core/device/host_device.h"
#include "core/runtime.h"
#include "runtime/threads/endpoint.h"

namespace trigram::threads {

/// The endpoints of all ranks on one stream, and the streams forked from it.
class Group {
 public:
  Group(World& world, std::string name, int world_size);
  const std::string& name() const { return name_; }
  Endpoint& at(int rank) { return endpoints_[static_cast<std::size_t>(rank)]; }
  std::deque<Endpoint>& endpoints() { return endpoints_; }

 private:
  friend class World;
  std::string name_;
  std::deque<Endpoint> endpoints_;
  std::vector<Group*> children_;  // in the order of forking
};

/// One launch: its ranks, streams, failure and watchdog.
class World {
 public:
  World(const Layout& layout, double watchdog_s, bool sleeps_compute);
  /// Runs `rank_main` on a thread per rank and returns or throws when all threads have ended.
  void run(const Task& rank_main);

  const Layout& layout() const { return layout_; }
  Device& device(int rank) { return devices_[static_cast<std::size_t>(rank)]; }
  double now() const;
  /// Whether computation known by its length only is slept, or skipped.
  bool sleeps_compute() const { return sleeps_compute_; }

  /// The n-th stream forked from `parent`. Throws InvariantError when another rank gave it another
  /// name.
  Group& fork(Group& parent, std::size_t n, const std::string& name, int rank);

  /// Ends the world: keeps the first error and wakes every stream. A null error announces one that
  /// is still unwinding its stream.
  void fail(std::exception_ptr error) noexcept;
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void check_not_failed() const {
    if (failed()) throw Aborted{};
  }

 private:
  /// What the watchdog sees at one look.
  struct Look {
    bool running = false;
    std::uint64_t waits_over = 0;
    std::vector<std::string> blocked;
  };
  Look look();
  void run_rank(int rank, const Task& rank_main) noexcept;
  void watch();
  template <class Visit>
  void for_each_endpoint(Visit visit);

  const Layout layout_;
  const double watchdog_s_;
  const bool sleeps_compute_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<HostDevice> devices_;  // one per rank, so that ranks do not share a memory pool
  std::mutex groups_mutex_;
  std::deque<Group> groups_;  // the first is the main streams
  std::atomic<bool> failed_ = false;
  std::mutex end_mutex_;
  std::condition_variable end_;
  int ranks_running_ = 0;
  std::exception_ptr error_;
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

}  // namespace trigram::threads
