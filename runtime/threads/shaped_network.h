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

/// The network of a cluster in real time: says when messages between threads arrive. A message
/// takes the latency of its route, and then shares the route's links until its priced bytes have
/// passed; an eager transport's leave one after another on each connection; a control message takes
/// the latency alone. A thread of its own keeps the dates.
///
/// Dates follow from dates, not from when a thread woke up: on a busy machine arrivals may be told
/// late, but one that is told late delays no bytes.
class ShapedNetwork {
 public:
  /// Called once, on the network's thread, which it must not hold up.
  using Arrived = std::function<void()>;

  /// Dates are those of `world`, whose error ends whatever is under way; it outlives this.
  ShapedNetwork(host::World& world, const Cluster& cluster, double bucket_depth);
  /// Drops what is under way.
  ~ShapedNetwork();
  ShapedNetwork(const ShapedNetwork&) = delete;
  ShapedNetwork& operator=(const ShapedNetwork&) = delete;

  /// What one connection still has to send, for an eager transport.
  class Line {
    friend class ShapedNetwork;
    struct Waiting {
      std::uint64_t id;
      double ready_s;  // when its latency is over
      int source, destination;
      double nbytes;
    };
    std::list<Waiting> waiting_;
    std::int64_t under_way_ = 0;
  };

  /// A message whose halves met at `met_s`. After abort() it arrives at once.
  void send(double met_s, int source, int destination, std::size_t nbytes, Arrived arrived);
  /// A message that an eager transport took at `taken_s`. Messages of a connection leave one after
  /// another, or as many at a time as it has streams of their own for: each when its latency is
  /// over and the one before has arrived, after the time that the connection spends on it.
  void send(Line& line, double taken_s, int source, int destination, std::size_t nbytes,
            Arrived arrived);
  /// A control message. Those between two ranks arrive in the order of posting.
  void post(int source, int destination, Arrived arrived);
  /// Seconds that the stream of `source` spends on a batch before it leaves.
  double overhead_s(int source, std::span<const Transfer> batch) const;

  /// Whether anything is under way: who waits for that does not hang.
  bool busy() const;
  /// Lets all that is under way arrive, and what is still to be sent: nobody looks at it any more.
  void abort() noexcept;

 private:
  using Id = std::uint64_t;
  Id register_message(Arrived arrived);
  void arrive(Id id);
  void start_waiting(Line& line, double date_s);
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
  std::unordered_map<Id, Arrived> under_way_;
  std::vector<Arrived> arrived_;  // to be told
  Id last_id_ = 0;
  double wakes_s_ = host::Schedule::kNever;  // when the thread wakes up by itself
  bool aborted_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace trigram::threads
