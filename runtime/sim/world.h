#pragma once

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device/host_device.h"
#include "core/runtime.h"
#include "runtime/sim/inbox.h"
#include "runtime/sim/overlap.h"
#include "runtime/sim/parcel.h"
#include "runtime/sim/rendezvous.h"
#include "runtime/sim/simulation.h"

namespace trigram::sim {

class FluidCollectives;
class SimStream;

/// Names a stream in the same way on all ranks: 1 is the main stream, and the n-th stream (from 1)
/// forked from stream s is 16 s + n.
using StreamId = std::uint64_t;
constexpr StreamId kMainStream = 1;
constexpr StreamId kMaxForks = 15;

/// What the actors of one simulation share. There is one thread, and an actor runs until it calls
/// SimGrid: nothing here needs a lock.
class World {
 public:
  World(const SimOptions& options, const Cluster& cluster, const Layout& layout);
  ~World();

  /// Runs `rank_main` on every rank until all streams have ended, and returns null; or until an
  /// exception ends the world, and returns that. Then actors remain that refer to this object.
  std::exception_ptr run(const Task& rank_main);

  /// Adds stream `id` of `rank`, whose actor runs `body`; its messages go to the peers' stream
  /// `receiver`. Ranks must agree on the name.
  SimStream& add_stream(int rank, StreamId id, const std::string& name,
                        std::function<void(SimStream&)> body, StreamId receiver);
  /// A stream of a rank that has been added.
  SimStream& stream(StreamId id, int rank);
  /// The same; null before it has been added.
  const SimStream* find_stream(StreamId id, int rank) {
    return group(id).streams[static_cast<std::size_t>(rank)];
  }
  std::size_t streams_per_rank() const { return groups_.size(); }
  /// The stream whose actor is running; null outside all streams.
  SimStream* current() const;

  /// Called by streams when they go on after a call of SimGrid. Does not return once the world has
  /// ended: what the tasks of this stream refer to may be gone.
  void halt_if_ended() const {
    if (ended_) [[unlikely]]
      halt();
  }

  Inbox& inbox(StreamId id, int rank);
  /// Puts a control message into the inbox of a stream at a date.
  void deliver(double date, StreamId id, int rank, int tag, const Message& message);

  simgrid::s4u::ActorPtr main_actor(int rank) const {
    return main_actors_[static_cast<std::size_t>(rank)];
  }
  const Cluster& cluster() const { return cluster_; }
  const Network& network() const { return *network_; }
  /// Network::latency at a date, without a vector for every message.
  double latency(double date_s, int source, int destination) {
    route_.clear();
    network_->route(source, destination, route_);
    return network_->latency(route_, network_->latency_factor(date_s));
  }
  const Layout& layout() const { return layout_; }
  bool eager() const { return cluster_.transport.has_connections(); }
  /// Whether receivers ask for long messages.
  bool announces() const { return cluster_.transport.protocol == Transport::Protocol::open_mpi; }
  /// Of the connection from one rank to another on which `stream` receives, or of the one for its
  /// answers.
  Rendezvous& rendezvous(StreamId stream, int source, int destination, bool answers) {
    return rendezvous_[stream][direction(source, destination, answers)];
  }
  /// Whether connections see to their windows message by message; else a window is a rate.
  bool has_windows() const { return cluster_.transport.tcp.exists() && rate() == Rate::burst; }
  /// Of connections, as links and messages are limited to it. Slices travel beside one another, on
  /// streams of which nothing is kept.
  Rate rate() const { return rate_of(cluster_.transport); }
  static Rate rate_of(const Transport& transport) {
    return transport.has_connections() && !transport.limits_messages() ? Rate::burst
                                                                       : Rate::sustained;
  }
  /// The window of the connection from one rank to another on which `stream` receives, or of the
  /// one for its answers.
  TcpWindow& window(StreamId stream, int source, int destination, bool answers) {
    return windows_[stream][direction(source, destination, answers)];
  }
  /// What SimGrid multiplies the latency of a route by.
  double latency_factor() const {
    constexpr double kLV08 = 13.01;
    return options_.network_model == SimOptions::NetworkModel::tcp ? kLV08 : 1;
  }
  /// How collectives went, where not all went by messages.
  Json notes() const;
  Simulation& simulation() { return simulation_; }
  std::vector<double> credits() const { return simulation_.credits(); }
  /// Null where every collective is made of messages.
  FluidCollectives* fluid() { return fluid_.get(); }
  /// Whether streams go ahead of the clock until something has to be known.
  bool ahead() const { return fluid_ != nullptr; }
  ParcelPool& parcels() { return parcels_; }
  /// Null where computation does not suffer from messages.
  Overlap* overlap() { return overlap_.get(); }
  Device& device() { return device_; }

 private:
  /// One stream over all ranks.
  struct Group {
    std::string name;
    std::vector<Inbox> inboxes;
    std::vector<SimStream*> streams;  // null before they are added
  };
  struct Delivery {
    Inbox* inbox;
    int tag;
    Message message;
  };

  static std::uint64_t direction(int source, int destination, bool answers) {
    const auto from = static_cast<std::uint64_t>(source);
    const auto to = static_cast<std::uint64_t>(destination);
    return from << 32 | to << 1 | (answers ? 1 : 0);
  }
  void run_actor(SimStream& stream, const std::function<void(SimStream&)>& body);
  [[noreturn]] void halt() const;
  [[noreturn]] void fail(std::exception_ptr failure);
  std::exception_ptr unobserved_failure() const;
  std::exception_ptr hang() const;
  std::vector<std::string> unreceived() const;
  Group& group(StreamId id);

  SimOptions options_;
  Cluster cluster_;
  std::unique_ptr<const Network> network_;
  std::vector<LinkId> route_;  // of the message at hand
  const Layout& layout_;
  Simulation simulation_;
  HostDevice device_;
  ParcelPool parcels_;
  std::unique_ptr<FluidCollectives> fluid_;
  std::unique_ptr<Overlap> overlap_;
  std::vector<std::unique_ptr<SimStream>> streams_;
  std::vector<SimStream*> by_actor_;  // by SimGrid's number of the actor
  std::vector<simgrid::s4u::ActorPtr> main_actors_;
  std::unordered_map<StreamId, Group> groups_;
  std::unordered_map<StreamId, std::unordered_map<std::uint64_t, TcpWindow>> windows_;  // by ranks
  std::unordered_map<StreamId, std::unordered_map<std::uint64_t, Rendezvous>> rendezvous_;
  std::map<double, std::vector<Delivery>> deliveries_;  // by date, then in order of posting
  std::exception_ptr failure_;
  bool ended_ = false;
};

}  // namespace trigram::sim
