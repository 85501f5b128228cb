#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/communicator.h"
#include "netmodels/cluster.h"
#include "netmodels/network/network.h"
#include "runtime/host/schedule.h"
#include "runtime/host/world.h"
#include "runtime/threads/shared_links.h"

namespace trigram::threads {

/// Emulates the network of a cluster in real time: it determines when messages between threads
/// arrive. A message takes the latency of its route, and then shares the links of the route until
/// its priced bytes have passed. With an eager transport the messages of a connection leave one
/// after another. A control message takes only the latency. A dedicated thread processes the
/// events.
///
/// The date of an event is computed from the dates of earlier events, never from the time at which
/// the thread woke up. On a busy machine the thread may report an arrival late, but a late report
/// does not delay later bytes.
class ShapedNetwork {
 public:
  /// Called once per message, on the network's thread, which it must not block.
  using Arrived = std::function<void()>;

  /// Dates are on the clock of `world`. The world must outlive this object, and must call abort()
  /// when it fails.
  ShapedNetwork(host::World& world, const Cluster& cluster, double bucket_depth);
  /// Drops the messages in flight.
  ~ShapedNetwork();
  ShapedNetwork(const ShapedNetwork&) = delete;
  ShapedNetwork& operator=(const ShapedNetwork&) = delete;

  /// The queue of messages that wait to be sent on one connection of an eager transport.
  class SendQueue {
    friend class ShapedNetwork;
    struct Waiting {
      std::uint64_t id;
      double ready_s;  // time at which its latency has passed
      int source, destination;
      double nbytes;
    };
    std::list<Waiting> waiting_;
    std::int64_t in_flight_ = 0;
  };

  /// Sends a message whose halves were matched at `matched_s`. After abort() it arrives at once.
  void send(double matched_s, int source, int destination, std::size_t nbytes, Arrived arrived);
  /// Sends a message that an eager transport accepted at `accepted_s`. A connection has one slot
  /// for each of its streams, and a message occupies a slot until it has arrived. A message starts
  /// once its latency has passed, a slot is free, and the connection has then spent its time per
  /// message.
  void send(SendQueue& send_queue, double accepted_s, int source, int destination,
            std::size_t nbytes, Arrived arrived);
  /// Sends a control message. Control messages between two ranks arrive in the order of posting.
  void post(int source, int destination, Arrived arrived);
  /// Seconds that the stream of rank `source` spends on a batch before the batch leaves.
  double overhead_s(int source, std::span<const Transfer> batch) const;

  /// True if any message is in flight. Streams that wait for a message in flight do not hang.
  bool busy() const;
  /// Delivers all messages at once, those in flight and those that are sent later. Their times no
  /// longer matter.
  void abort() noexcept;

 private:
  using Id = std::uint64_t;
  /// Registers a message, calls `schedule` with its id, and wakes the thread if that makes its next
  /// event earlier.
  template <class Schedule>
  void add(Arrived arrived, Schedule schedule);
  void arrive(Id id);
  void start_waiting(SendQueue& send_queue, double date_s);
  bool between_nodes(int source, int destination) const;
  double next_s() const;
  void run() noexcept;
  void deliver(std::unique_lock<std::mutex>& lock);

  host::World& world_;
  const Cluster cluster_;
  const std::unique_ptr<const Network> network_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  SharedLinks links_;
  host::Schedule delays_;
  std::unordered_map<Id, Arrived> in_flight_;
  std::vector<Arrived> arrived_;  // arrivals to report
  Id last_id_ = 0;
  double wakes_s_ = host::Schedule::kNever;  // time at which the thread wakes by itself
  bool aborted_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace trigram::threads
