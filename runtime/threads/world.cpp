#include "runtime/threads/world.h"

#include <algorithm>
#include <thread>

#include "core/check.h"
#include "runtime/threads/stream.h"

namespace trigram::threads {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

Group::Group(World& world, std::string name, int world_size) : name_(std::move(name)) {
  for (int rank = 0; rank < world_size; ++rank)
    endpoints_.emplace_back(world, name_, rank, world_size);
}

World::World(const Layout& layout, double watchdog_s, bool sleeps_compute)
    : layout_(layout),
      watchdog_s_(watchdog_s),
      sleeps_compute_(sleeps_compute),
      start_(Clock::now()),
      devices_(std::size_t(layout.ranks())) {
  groups_.emplace_back(*this, "main", layout.ranks());
}

double World::now() const { return Seconds(Clock::now() - start_).count(); }

void World::run(const Task& rank_main) {
  std::vector<std::thread> threads;
  ranks_running_ = layout_.ranks();
  // A rank counts as running from here on, lest the watchdog overlook one that starts late.
  for (Endpoint& e : groups_.front().endpoints()) e.state = Endpoint::State::running;
  try {
    for (int rank = 0; rank < layout_.ranks(); ++rank)
      threads.emplace_back([this, rank, &rank_main] { run_rank(rank, rank_main); });
    watch();
  } catch (...) {  // no more threads to be had
    fail(std::current_exception());
  }
  for (std::thread& thread : threads) thread.join();
  if (error_) std::rethrow_exception(error_);
  TRIGRAM_CHECK(!failed(), "a stream was destroyed by an exception that its rank then caught");
}

void World::run_rank(int rank, const Task& rank_main) noexcept {
  Group& main = groups_.front();
  this_endpoint() = &main.at(rank);
  try {
    ThreadsStream stream(main, rank);
    rank_main(stream.context());
  } catch (const Aborted&) {
  } catch (...) {
    fail(std::current_exception());
  }
  main.at(rank).set_state(Endpoint::State::ended);
  std::lock_guard lock(end_mutex_);
  if (--ranks_running_ == 0) end_.notify_one();
}

Group& World::fork(Group& parent, std::size_t n, const std::string& name, int rank) {
  std::lock_guard lock(groups_mutex_);
  if (n == parent.children_.size())
    parent.children_.push_back(&groups_.emplace_back(*this, name, layout_.ranks()));
  Group& child = *parent.children_[n];
  check_fork_name(rank, name, child.name());
  return child;
}

template <class Visit>
void World::for_each_endpoint(Visit visit) {
  std::lock_guard lock(groups_mutex_);
  for (int rank = 0; rank < layout_.ranks(); ++rank)
    for (Group& group : groups_) visit(group.at(rank));
}

void World::fail(std::exception_ptr error) noexcept {
  {
    std::lock_guard lock(end_mutex_);
    if (!error_) error_ = error;
  }
  failed_.store(true, std::memory_order_release);
  for_each_endpoint([](Endpoint& e) { e.poke(); });
}

World::Look World::look() {
  Look seen;
  for_each_endpoint([&](Endpoint& e) {
    std::lock_guard lock(e.mutex);
    seen.waits_over += e.waits_over;
    seen.running |= e.state == Endpoint::State::running;
    if (e.state == Endpoint::State::blocked) seen.blocked.push_back(e.wait_line());
  });
  return seen;
}

void World::watch() {
  const auto patience = Seconds(watchdog_s_);
  const auto interval = std::min(patience / 4, Seconds(0.5));
  auto last_progress = Clock::now();
  std::uint64_t waits_over = 0;
  std::unique_lock lock(end_mutex_);
  while (!end_.wait_for(lock, interval, [&] { return ranks_running_ == 0; })) {
    lock.unlock();
    // A stream that was blocked at two looks, with no wait over in between, was blocked all along.
    Look seen = look();
    const bool moves = seen.running || seen.blocked.empty() || seen.waits_over != waits_over;
    if (moves || failed()) last_progress = Clock::now();
    else if (Clock::now() - last_progress >= patience)
      fail(std::make_exception_ptr(hang_error(seen.blocked)));
    waits_over = seen.waits_over;
    lock.lock();
  }
}

}  // namespace trigram::threads
