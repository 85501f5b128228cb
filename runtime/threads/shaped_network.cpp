#include "runtime/threads/shaped_network.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "netmodels/cluster_network.h"

namespace trigram::threads {

ShapedNetwork::ShapedNetwork(host::World& world, const Cluster& cluster, double bucket_depth)
    : world_(world),
      cluster_(cluster),
      network_(make_network(cluster)),
      links_(*network_, bucket_depth),
      thread_([this] { run(); }) {}

ShapedNetwork::~ShapedNetwork() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool ShapedNetwork::between_nodes(int source, int destination) const {
  return cluster_.node_of(source) != cluster_.node_of(destination);
}

double ShapedNetwork::overhead_s(int source, std::span<const Transfer> batch) const {
  const auto messages = std::ranges::count_if(batch, [&](const Transfer& t) {
    return t.kind == Transfer::send && between_nodes(source, t.peer);
  });
  if (cluster_.transport.protocol == Transport::Protocol::eager)
    return messages > 0 ? cluster_.transport.stage_overhead_s : 0;
  return cluster_.transport.overhead_s(static_cast<int>(messages));
}

template <class Schedule>
void ShapedNetwork::add(Arrived arrived, Schedule schedule) {
  {
    std::lock_guard lock(mutex_);
    in_flight_.emplace(++last_id_, std::move(arrived));
    schedule(last_id_);
    if (next_s() >= wakes_s_) return;
  }
  wake_.notify_one();
}

void ShapedNetwork::send(double matched_s, int source, int destination, std::size_t nbytes,
                         Arrived arrived) {
  const double starts_s = matched_s + network_->latency(source, destination);
  add(std::move(arrived), [&](Id id) {
    links_.start(starts_s, source, destination, static_cast<double>(nbytes),
                 [this, id](double) { arrive(id); });
  });
}

void ShapedNetwork::send(SendQueue& send_queue, double accepted_s, int source, int destination,
                         std::size_t nbytes, Arrived arrived) {
  const double ready_s = accepted_s + network_->latency(source, destination);
  add(std::move(arrived), [&](Id id) {
    send_queue.waiting_.push_back({id, ready_s, source, destination, static_cast<double>(nbytes)});
    start_waiting(send_queue, 0);
  });
}

/// Starts waiting messages while the connection has free slots. A slot has been free since
/// `date_s`.
void ShapedNetwork::start_waiting(SendQueue& send_queue, double date_s) {
  const Transport& transport = cluster_.transport;
  while (!send_queue.waiting_.empty()) {
    const SendQueue::Waiting next = send_queue.waiting_.front();
    const bool outside = between_nodes(next.source, next.destination);
    if (send_queue.in_flight_ >= (outside && transport.limits_messages() ? transport.streams : 1))
      return;
    send_queue.waiting_.pop_front();
    ++send_queue.in_flight_;
    const double busy_s = outside ? transport.per_message_s() : 0;
    links_.start(std::max(next.ready_s, date_s) + busy_s, next.source, next.destination,
                 next.nbytes, [this, &send_queue, id = next.id](double ended_s) {
                   arrive(id);
                   --send_queue.in_flight_;
                   start_waiting(send_queue, ended_s);
                 });
  }
}

void ShapedNetwork::post(int source, int destination, Arrived arrived) {
  const double latency_s = network_->latency(source, destination);
  add(std::move(arrived),
      [&](Id id) { delays_.at(world_.now() + latency_s, [this, id] { arrive(id); }); });
}

void ShapedNetwork::arrive(Id id) {
  if (const auto found = in_flight_.extract(id)) arrived_.push_back(std::move(found.mapped()));
}

double ShapedNetwork::next_s() const {
  if (aborted_) return in_flight_.empty() ? host::Schedule::kNever : 0;
  return std::min(links_.next(), delays_.next());
}

bool ShapedNetwork::busy() const {
  std::lock_guard lock(mutex_);
  return !in_flight_.empty();
}

void ShapedNetwork::abort() noexcept {
  {
    std::lock_guard lock(mutex_);
    aborted_ = true;
  }
  wake_.notify_one();
}

/// Runs the callbacks without holding the mutex, because a callback may send a message.
void ShapedNetwork::deliver(std::unique_lock<std::mutex>& lock) {
  if (aborted_) {
    for (auto& [id, arrived] : in_flight_) arrived_.push_back(std::move(arrived));
    in_flight_.clear();
  }
  const auto arrived = std::exchange(arrived_, {});
  if (arrived.empty()) return;
  lock.unlock();
  for (const Arrived& callback : arrived) callback();
  lock.lock();
}

void ShapedNetwork::run() noexcept {
  // In nanoseconds. The default, 50 us, is as long as the latency of a network.
  prctl(PR_SET_TIMERSLACK, 1UL);
  try {
    std::unique_lock lock(mutex_);
    while (!closing_) {
      const double now_s = world_.now();
      if (!aborted_) {
        links_.advance(now_s);
        delays_.run_due(now_s);
      }
      deliver(lock);
      wakes_s_ = next_s();
      if (wakes_s_ <= world_.now() || closing_) continue;
      if (wakes_s_ == host::Schedule::kNever) wake_.wait(lock);
      else wake_.wait_until(lock, world_.date(wakes_s_));
      wakes_s_ = 0;  // the thread is awake, so no other thread needs to wake it
    }
  } catch (...) {
    world_.fail(std::current_exception());
  }
}

}  // namespace trigram::threads
