#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "core/control.h"
#include "core/device/host_device.h"
#include "core/runtime.h"
#include "netmodels/transport.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/staging.h"
#include "runtime/host/watchdog.h"
#include "runtime/host/world.h"
#include "runtime/threads/match_queues.h"
#include "runtime/threads/shaped_network.h"

namespace trigram::threads {

class ThreadsGroup;
using host::Endpoint;

/// Control messages go directly into the inbox of the destination's same-named stream. On an
/// emulated network, messages to other ranks arrive after the latency of the route.
class ThreadsControl final : public Control {
 public:
  ThreadsControl(ThreadsGroup& group, Endpoint& self) : group_(group), self_(self) {}
  void post(int dest, int tag, std::int64_t a, std::int64_t b) override;
  std::optional<Message> receive(int tag) override;
  std::optional<Message> poll(int tag) override;

 private:
  ThreadsGroup& group_;
  Endpoint& self_;
};

class ThreadsGroup final : public host::Group {
 public:
  ThreadsGroup(host::World& world, const std::string& name, int world_size);
  Endpoint& at(int rank) override { return endpoints_[static_cast<std::size_t>(rank)]; }
  std::unique_ptr<Communicator> communicator(Endpoint& self) override;
  std::unique_ptr<Control> control(Endpoint& self) override;
  std::deque<Endpoint>& endpoints() { return endpoints_; }
  /// The group that receives what this group sends, and the group whose messages this group
  /// receives. Both are this group itself, unless it is an end of a one-way channel.
  ThreadsGroup& receivers() { return *receivers_; }
  ThreadsGroup& senders() { return *senders_; }
  /// The queues for messages from rank `source` to rank `receiver`. The mutex of the receiver's
  /// endpoint guards them.
  MatchQueues& queues(int receiver, int source, TrafficClass traffic) {
    auto& table = traffic == TrafficClass::answer ? answer_queues_ : queues_;
    return table[static_cast<std::size_t>(receiver) * endpoints_.size() +
                 static_cast<std::size_t>(source)];
  }
  /// Adds a line for each connection with accepted messages that no stream will receive, because
  /// the receiver is not blocked. Call it when no message is in flight.
  void add_unreceived(std::vector<std::string>& lines);

 private:
  friend class ThreadsWorld;
  std::deque<Endpoint> endpoints_;
  std::vector<MatchQueues> queues_, answer_queues_;  // indexed by receiver and source
  std::vector<ThreadsGroup*> children_;              // in the order of forking
  ThreadsGroup *receivers_ = this, *senders_ = this;
};

/// One launch: its ranks, streams, error and watchdog.
class ThreadsWorld final : public host::World {
 public:
  ThreadsWorld(const Layout& layout, double watchdog_s, bool sleeps_compute,
               const Transport& transport);
  /// Makes messages take as long as on the network of `cluster`. Call it before `run`.
  void emulate(const Cluster& cluster, double bucket_depth);
  /// Runs `rank_main` on one thread per rank. Returns or throws when all threads have ended.
  void run(const Task& rank_main);

  Device& device(int rank) override { return devices_[static_cast<std::size_t>(rank)]; }
  const Transport& transport() const { return transport_; }
  /// Memory for messages that `rank` has sent before their receive was posted.
  host::Staging& staging(int rank) { return staging_[static_cast<std::size_t>(rank)]; }
  /// Null unless a network is emulated.
  ShapedNetwork* network() { return network_.get(); }
  host::Group& fork(host::Group& parent, std::size_t n, const std::string& name, int rank) override;
  OneWayGroups fork_one_way(host::Group& parent, std::size_t n, const std::string& name,
                            int rank) override;
  void fail(std::exception_ptr error) noexcept override;

 private:
  host::StreamSnapshot snapshot();
  ThreadsGroup& child(ThreadsGroup& parent, std::size_t n, const std::string& name, int rank);
  void run_rank(int rank, const Task& rank_main) noexcept;
  void watch();
  std::vector<std::string> unreceived();
  template <class Visit>
  void for_each_endpoint(Visit visit);

  host::Watchdog watchdog_;
  const Transport transport_;
  std::deque<host::Staging> staging_;  // by rank
  std::vector<HostDevice> devices_;    // one per rank, so that ranks do not share a memory pool
  std::mutex groups_mutex_;
  std::deque<ThreadsGroup> groups_;  // the first group has the main streams
  std::mutex end_mutex_;
  std::condition_variable end_;
  int ranks_running_ = 0;
  std::exception_ptr error_;
  /// Must be the last member, because its thread uses the members above.
  std::unique_ptr<ShapedNetwork> network_;
};

}  // namespace trigram::threads
