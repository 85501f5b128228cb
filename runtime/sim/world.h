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
#include "runtime/sim/parcel.h"
#include "runtime/sim/simulation.h"

namespace trigram::sim {

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

  /// Runs `rank_main` on every rank until all streams have ended.
  void run(const Task& rank_main);

  /// Adds stream `id` of `rank`, whose actor runs `body`. Ranks must agree on the name.
  SimStream& add_stream(int rank, StreamId id, const std::string& name,
                        std::function<void(SimStream&)> body);
  /// The stream whose actor is running; null outside all streams.
  SimStream* current() const;

  Inbox& inbox(StreamId id, int rank);
  /// Puts a control message into the inbox of a stream at a date.
  void deliver(double date, StreamId id, int rank, int tag, const Message& message);

  simgrid::s4u::ActorPtr main_actor(int rank) const {
    return main_actors_[static_cast<std::size_t>(rank)];
  }
  const Cluster& cluster() const { return cluster_; }
  const Layout& layout() const { return layout_; }
  bool eager() const { return options_.protocol == SimOptions::Protocol::eager; }
  ParcelPool& parcels() { return parcels_; }
  Device& device() { return device_; }

 private:
  /// One stream over all ranks.
  struct Group {
    std::string name;
    std::vector<Inbox> inboxes;
  };
  struct Delivery {
    Inbox* inbox;
    int tag;
    Message message;
  };

  void run_actor(SimStream& stream, const std::function<void(SimStream&)>& body);
  void fail(std::exception_ptr failure);
  void rethrow_failure();
  std::exception_ptr unobserved_failure() const;
  void note_deadlock();
  Group& group(StreamId id);

  SimOptions options_;
  Cluster cluster_;
  const Layout& layout_;
  Simulation simulation_;
  HostDevice device_;
  ParcelPool parcels_;
  std::vector<std::unique_ptr<SimStream>> streams_;
  std::vector<SimStream*> by_actor_;  // by SimGrid's number of the actor
  std::vector<simgrid::s4u::ActorPtr> main_actors_;
  std::unordered_map<StreamId, Group> groups_;
  std::map<double, std::vector<Delivery>> deliveries_;  // by date, then in order of posting
  std::exception_ptr failure_;
  std::vector<std::string> deadlock_;
};

}  // namespace trigram::sim
