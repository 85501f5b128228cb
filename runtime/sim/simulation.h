#pragma once

#include <functional>
#include <memory>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Host.hpp>
#include <string>
#include <vector>

#include "netmodels/coupled_rounds.h"
#include "netmodels/network/network.h"
#include "runtime/sim/sim_runtime.h"

namespace trigram::sim {

class Connection;
class DeliveryWatch;
class NetworkZone;

/// The one simulation of this process: SimGrid's engine, configured, with the platform of a
/// cluster's network, and the traffic of others on it. Whatever SimGrid changes from version to
/// version lies behind this class, in one file per version that CMake chooses.
class Simulation {
 public:
  /// `network` outlives the simulation. Throws InvariantError when the process has had one already.
  Simulation(const SimOptions& options, const Cluster& cluster, const Network& network);

  /// Seconds since the simulation started.
  static double clock();
  /// Starts an actor on the host of `rank`.
  simgrid::s4u::ActorPtr spawn(int rank, const std::string& name, std::function<void()> body);
  /// Calls `action` at a date, between actors: it must not block.
  void at(double date, std::function<void()> action);
  /// Calls `action`, which must not block, for the running actor at the price of one switch of
  /// context, whatever it asks of SimGrid.
  static void in_one_switch(const std::function<void()>& action);
  /// Starts bytes along each of the messages of a round together, at one common rate.
  simgrid::s4u::CommPtr start_flow(const CoupledRounds& rounds, double bytes);
  /// Starts a message that has been prepared, whose latency is over in `latency_s`, at the price of
  /// a switch of context unless called within in_one_switch.
  void start(simgrid::s4u::Comm& message, double latency_s);
  /// Calls `connection.advance()` when its message under way has been delivered.
  void watch(Connection& connection);
  /// What is left in the token buckets of links, in bytes.
  std::vector<double> credits() const;
  /// Runs until every actor has ended, `stop` is called, or none can go on: then calls
  /// `on_deadlock`.
  ///
  /// Actors that have not ended are left as they are. To unwind them would run destructors that
  /// refer to other actors' variables, in no sensible order.
  void run(const std::function<void()>& on_deadlock);
  /// Makes `run` return before time passes. Actors that can run now still do.
  void stop();

 private:
  NetworkZone* zone_;  // SimGrid owns it
  std::shared_ptr<DeliveryWatch> watch_;
  std::vector<simgrid::s4u::Host*> hosts_;  // by rank, and two more: the ends of coupled flows
};

}  // namespace trigram::sim
