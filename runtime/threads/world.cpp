#include "runtime/threads/world.h"

#include <algorithm>
#include <thread>

#include "core/check.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/stream.h"
#include "runtime/threads/communicator.h"
#include "runtime/threads/shaped_network.h"

namespace trigram::threads {

void ThreadsControl::post(int dest, int tag, std::int64_t a, std::int64_t b) {
  host::check_post(self_, dest);
  Endpoint& receiver = group_.at(dest);
  const Message message{self_.rank, a, b};
  auto* const network = static_cast<ThreadsWorld&>(self_.world).network();
  if (network == nullptr || dest == self_.rank) return host::deliver(receiver, tag, message);
  network->post(self_.rank, dest,
                [&receiver, tag, message] { host::deliver(receiver, tag, message); });
}

std::optional<Message> ThreadsControl::receive(int tag) { return host::receive(self_, tag); }

std::optional<Message> ThreadsControl::poll(int tag) { return host::poll(self_, tag); }

ThreadsGroup::ThreadsGroup(host::World& world, const std::string& name, int world_size)
    : Group(name),
      queues_(static_cast<std::size_t>(world_size) * std::size_t(world_size)),
      answer_queues_(queues_.size()) {
  for (int rank = 0; rank < world_size; ++rank) endpoints_.emplace_back(world, this->name(), rank);
}

std::unique_ptr<Communicator> ThreadsGroup::communicator(Endpoint& self) {
  return std::make_unique<ThreadsCommunicator>(*this, self);
}

std::unique_ptr<Control> ThreadsGroup::control(Endpoint& self) {
  return std::make_unique<ThreadsControl>(*this, self);
}

void ThreadsGroup::add_unreceived(std::vector<std::string>& lines) {
  for (Endpoint& receiver : endpoints_) {
    std::lock_guard lock(receiver.mutex);
    if (receiver.state == Endpoint::State::blocked) continue;
    for (const Endpoint& sender : senders().endpoints_)
      for (const TrafficClass traffic : {TrafficClass::collective, TrafficClass::answer})
        if (queues(receiver.rank, sender.rank, traffic).held_messages > 0)
          lines.push_back(wait_text(sender.rank, sender.stream,
                                    {.kind = Wait::receiver, .peer = receiver.rank}));
  }
}

ThreadsWorld::ThreadsWorld(const Layout& layout, double watchdog_s, bool sleeps_compute,
                           const Transport& transport)
    : World(layout, sleeps_compute),
      watchdog_(watchdog_s),
      transport_(transport),
      staging_(std::size_t(layout.ranks())),
      devices_(std::size_t(layout.ranks())) {
  groups_.emplace_back(*this, "main", layout.ranks());
}

void ThreadsWorld::emulate(const Cluster& cluster, double bucket_depth) {
  network_ = std::make_unique<ShapedNetwork>(*this, cluster, bucket_depth);
}

void ThreadsWorld::run(const Task& rank_main) {
  std::vector<std::thread> threads;
  ranks_running_ = layout().ranks();
  // Every rank counts as running from here on, so that the watchdog does not take a rank that
  // starts late for an idle one.
  for (Endpoint& e : groups_.front().endpoints()) e.state = Endpoint::State::running;
  try {
    for (int rank = 0; rank < layout().ranks(); ++rank)
      threads.emplace_back([this, rank, &rank_main] { run_rank(rank, rank_main); });
    watch();
  } catch (...) {  // the system has no more threads
    fail(std::current_exception());
  }
  for (std::thread& thread : threads) thread.join();
  if (error_) std::rethrow_exception(error_);
  TRIGRAM_CHECK(!failed(), "a stream was destroyed by an exception that its rank then caught");
  // Senders did not wait until messages accepted by an eager transport were received, so this is
  // checked here.
  if (const auto lines = unreceived(); !lines.empty()) throw hang_error(lines);
}

std::vector<std::string> ThreadsWorld::unreceived() {
  std::vector<std::string> lines;
  std::lock_guard lock(groups_mutex_);
  for (ThreadsGroup& group : groups_) group.add_unreceived(lines);
  return lines;
}

void ThreadsWorld::run_rank(int rank, const Task& rank_main) noexcept {
  ThreadsGroup& main = groups_.front();
  host::this_endpoint() = &main.at(rank);
  try {
    host::HostStream stream(main, rank);
    rank_main(stream.context());
  } catch (const host::Aborted&) {
  } catch (...) {
    fail(std::current_exception());
  }
  main.at(rank).set_state(Endpoint::State::ended);
  std::lock_guard lock(end_mutex_);
  if (--ranks_running_ == 0) end_.notify_one();
}

/// The caller holds groups_mutex_.
ThreadsGroup& ThreadsWorld::child(ThreadsGroup& parent, std::size_t n, const std::string& name,
                                  int rank) {
  auto& children = parent.children_;
  if (n == children.size())
    children.push_back(&groups_.emplace_back(*this, name, layout().ranks()));
  check_fork_name(rank, name, children[n]->name());
  return *children[n];
}

host::Group& ThreadsWorld::fork(host::Group& parent, std::size_t n, const std::string& name,
                                int rank) {
  std::lock_guard lock(groups_mutex_);
  return child(static_cast<ThreadsGroup&>(parent), n, name, rank);
}

host::World::OneWayGroups ThreadsWorld::fork_one_way(host::Group& parent, std::size_t n,
                                                     const std::string& name, int rank) {
  std::lock_guard lock(groups_mutex_);
  auto& from = static_cast<ThreadsGroup&>(parent);
  const bool is_new = n == from.children_.size();
  ThreadsGroup& in = child(from, n, name + " in", rank);
  ThreadsGroup& out = child(from, n + 1, name + " out", rank);
  if (is_new) {
    out.receivers_ = &in;
    in.senders_ = &out;
  }
  return {out, in};
}

template <class Visit>
void ThreadsWorld::for_each_endpoint(Visit visit) {
  std::lock_guard lock(groups_mutex_);
  for (int rank = 0; rank < layout().ranks(); ++rank)
    for (ThreadsGroup& group : groups_) visit(group.at(rank));
}

void ThreadsWorld::fail(std::exception_ptr error) noexcept {
  {
    std::lock_guard lock(end_mutex_);
    if (!error_) error_ = error;
  }
  set_failed();
  for_each_endpoint([](Endpoint& e) { e.poke(); });
  if (network_) network_->abort();
}

host::StreamSnapshot ThreadsWorld::snapshot() {
  host::StreamSnapshot seen;
  for_each_endpoint([&](Endpoint& e) { seen.add(e); });
  seen.running |= network_ && network_->busy();
  return seen;
}

void ThreadsWorld::watch() {
  std::unique_lock lock(end_mutex_);
  while (!end_.wait_for(lock, watchdog_.interval(), [&] { return ranks_running_ == 0; })) {
    lock.unlock();
    host::StreamSnapshot seen = snapshot();
    if (failed()) {
      watchdog_.reset();
    } else if (watchdog_.hangs(seen)) {
      for (std::string& line : unreceived()) seen.blocked.push_back(std::move(line));
      fail(std::make_exception_ptr(hang_error(seen.blocked)));
    }
    lock.lock();
  }
}

}  // namespace trigram::threads
