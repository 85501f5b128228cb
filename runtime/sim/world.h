#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device/host_device.h"
#include "core/runtime.h"
#include "core/wait_text.h"
#include "netmodels/partitions.h"
#include "runtime/sim/control.h"
#include "runtime/sim/overlap.h"
#include "runtime/sim/parcel.h"
#include "runtime/sim/rendezvous.h"
#include "runtime/sim/simulation.h"

namespace trigram::sim {

class FluidCollectives;
class SimStream;

/// Names a stream in the same way on all ranks: 1 is the main stream, and the n-th stream (from 1)
/// that stream s forks is 1024 s + n.
using StreamId = std::uint64_t;
constexpr StreamId kMainStream = 1;
constexpr StreamId kMaxForks = 1023;

/// State that the actors of one simulation share. There is one thread, and an actor runs until it
/// calls SimGrid, so nothing here needs a lock.
///
/// Several jobs that share a network have a world each, on one simulation.
class World {
 public:
  /// `network` is that of `cluster`. `job` begins the lines of this world in errors; "" if it has
  /// the simulation to itself or is the job that is measured.
  World(const SimOptions& options, const Cluster& cluster, const Layout& layout,
        std::shared_ptr<const Network> network, Simulation& simulation, std::string job);
  ~World();

  /// Starts every rank, which runs `rank_main` when the simulation runs. `ended` is called when all
  /// streams have ended; it may be empty.
  void start(const Task& rank_main, std::function<void()> ended);
  /// Notes that no actor of the simulation can continue.
  void deadlock();
  /// To be called after the simulation. Returns null if all streams have ended or if other worlds
  /// ended the simulation, and otherwise the exception that ended it. Unless all streams have
  /// ended, actors remain that refer to this object.
  std::exception_ptr outcome();
  /// Makes `outcome` return SimulationEnded, at a date, unless all streams have ended before.
  void end_at(double date_s);

  /// Adds stream `id` of `rank`, whose actor runs `body`. Its messages go to the peers' stream
  /// `receiver`. All ranks must give the same name.
  SimStream& add_stream(int rank, StreamId id, const std::string& name,
                        std::function<void(SimStream&)> body, StreamId receiver);
  /// A stream that has been added.
  SimStream& stream(StreamId id, int rank);
  /// Stream `id` of `rank`, or null if it has not been added yet.
  const SimStream* find_stream(StreamId id, int rank) {
    return group(id).streams[static_cast<std::size_t>(rank)];
  }
  std::size_t streams_per_rank() const { return groups_.size(); }
  /// The stream whose actor is running; null outside all streams.
  SimStream* current() const;

  /// Streams call it when they resume after a call of SimGrid. It does not return if the world has
  /// ended, because objects to which the stream's tasks refer may be gone.
  void halt_if_ended() const {
    if (ended_) [[unlikely]]
      halt();
  }

  Inbox& inbox(StreamId id, int rank);
  /// Puts a control message into a stream's inbox at `date`.
  void deliver(double date, StreamId id, int rank, int tag, const Message& message);

  simgrid::s4u::ActorPtr main_actor(int rank) const {
    return main_actors_[static_cast<std::size_t>(rank)];
  }
  const Cluster& cluster() const { return cluster_; }
  const Network& network() const { return *network_; }
  /// Network::latency at a date. It does not allocate a vector for every message.
  double latency(double date_s, int source, int destination) {
    route_.clear();
    network_->route(source, destination, route_);
    return network_->latency(route_, network_->latency_factor(date_s));
  }
  /// A new connection between two ranks, which partitions may interrupt.
  InterruptedConnection interrupted_connection(int source, int destination) const {
    if (!partitioned_) return {{}, 0};
    return trigram::interrupted_connection(cluster_, *network_, source, destination);
  }
  /// The date at which a control message arrives that is posted at `date_s`.
  double control_arrival_s(double date_s, int source, int destination);
  /// The date at which a heartbeat of `nbytes` bytes arrives that is sent now. `behind_bulk`: it
  /// waits in the queues of links behind the bytes of all connections.
  double heartbeat_arrival_s(int source, int destination, double nbytes, bool behind_bulk);
  const Layout& layout() const { return layout_; }
  bool eager() const { return cluster_.transport.has_connections(); }
  /// True if receivers request long messages.
  bool announces() const { return cluster_.transport.protocol == Transport::Protocol::open_mpi; }
  /// The rendezvous of the connection from `source` to `destination` on which `stream` receives.
  /// `for_answers` selects the separate connection for TrafficClass::answer.
  Rendezvous& rendezvous(StreamId stream, int source, int destination, bool for_answers) {
    return rendezvous_[stream][direction(source, destination, for_answers)];
  }
  /// True if connections simulate their windows message by message; otherwise a window limits the
  /// rate.
  bool has_windows() const { return cluster_.transport.tcp.has_window() && rate() == Rate::burst; }
  /// The rate of a connection that the simulation uses: the burst rate if connections track their
  /// windows, otherwise, such as for sliced messages, the sustained rate.
  Rate rate() const { return rate_of(cluster_.transport); }
  static Rate rate_of(const Transport& transport) {
    return transport.has_connections() && !transport.limits_messages() ? Rate::burst
                                                                       : Rate::sustained;
  }
  /// The window of the connection from `source` to `destination` on which `stream` receives.
  /// `for_answers` selects the separate connection for TrafficClass::answer.
  TcpWindow& window(StreamId stream, int source, int destination, bool for_answers) {
    return windows_[stream][direction(source, destination, for_answers)];
  }
  /// The factor by which SimGrid multiplies the latency of a route.
  double latency_factor() const {
    constexpr double kLV08 = 13.01;
    return options_.network_model == SimOptions::NetworkModel::tcp ? kLV08 : 1;
  }
  /// Counts of collectives by how they were simulated; empty with the fidelity "message".
  Json notes() const;
  Simulation& simulation() { return simulation_; }
  std::vector<double> credits() const { return simulation_.credits(); }
  /// Null if every collective consists of messages.
  FluidCollectives* fluid() { return fluid_.get(); }
  /// True if streams run ahead of the clock until a time must be known.
  bool ahead() const { return fluid_ != nullptr; }
  ParcelPool& parcels() { return parcels_; }
  /// Null if messages do not slow down computation.
  Overlap* overlap() { return overlap_.get(); }
  bool has_live_streams() const { return live_ > 0; }
  Device& device() { return device_; }

 private:
  /// The same-named streams of all ranks.
  struct Group {
    std::string name;
    std::vector<Inbox> inboxes;
    std::vector<SimStream*> streams;  // null until added
  };
  struct Delivery {
    Inbox* inbox;
    int tag;
    Message message;
  };

  static std::uint64_t direction(int source, int destination, bool for_answers) {
    const auto from = static_cast<std::uint64_t>(source);
    const auto to = static_cast<std::uint64_t>(destination);
    return from << 32 | to << 1 | (for_answers ? 1 : 0);
  }
  void run_actor(SimStream& stream, const std::function<void(SimStream&)>& body);
  [[noreturn]] void halt() const;
  [[noreturn]] void fail(std::exception_ptr failure);
  std::exception_ptr unobserved_failure() const;
  /// The exception that ends the world; called if no actor can go on.
  std::exception_ptr hang_failure() const;
  std::vector<std::string> unreceived() const;
  std::string wait_line(const SimStream& stream, const Wait& wait) const;
  /// Seconds that a packet waits which is sent now.
  double queueing_s(int source, int destination) const;
  Group& group(StreamId id);

  SimOptions options_;
  Cluster cluster_;
  std::shared_ptr<const Network> network_;
  const bool partitioned_;     // partitions may interrupt connections
  std::vector<LinkId> route_;  // scratch
  const Layout& layout_;
  Simulation& simulation_;
  const std::string job_;
  HostDevice device_;
  ParcelPool parcels_;
  std::unique_ptr<FluidCollectives> fluid_;
  std::unique_ptr<Overlap> overlap_;
  std::vector<std::unique_ptr<SimStream>> streams_;
  long live_ = 0;  // streams that have not ended
  std::function<void()> when_ended_;
  std::vector<SimStream*> by_actor_;  // by SimGrid's actor number
  std::vector<simgrid::s4u::ActorPtr> main_actors_;
  std::unordered_map<StreamId, Group> groups_;
  std::unordered_map<StreamId, std::unordered_map<std::uint64_t, TcpWindow>> windows_;
  std::unordered_map<StreamId, std::unordered_map<std::uint64_t, Rendezvous>> rendezvous_;
  /// The connections of control messages and heartbeats; only if there are partitions.
  std::unordered_map<std::uint64_t, InterruptedConnection> control_routes_, heartbeat_routes_;
  std::map<double, std::vector<Delivery>> deliveries_;  // by date, then in order of posting
  std::exception_ptr failure_;
  bool ended_ = false;
};

}  // namespace trigram::sim
