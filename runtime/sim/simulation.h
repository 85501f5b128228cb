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

/// The only simulation of this process: SimGrid's engine, configured, with the platform of a
/// cluster's network and its background traffic. This class hides everything that differs between
/// versions of SimGrid. Each version has a source file, and CMake chooses one.
class Simulation {
 public:
  /// `network` must outlive the simulation. Throws InvariantError if the process has already had a
  /// simulation.
  Simulation(const SimOptions& options, const Cluster& cluster, const Network& network);

  /// Seconds since the simulation started.
  static double clock();
  /// Starts an actor on the host of `rank`.
  simgrid::s4u::ActorPtr spawn(int rank, const std::string& name, std::function<void()> body);
  /// True if an actor has not ended.
  static bool has_actors();
  /// Calls `action` at a date, while no actor runs. It must not block.
  void at(double date, std::function<void()> action);
  /// Runs `action`, which must not block, on behalf of the running actor. The SimGrid calls of
  /// `action` together cost one context switch.
  static void in_one_switch(const std::function<void()>& action);
  /// Starts a flow that moves `bytes` bytes along every message of a round at the same time, at a
  /// common rate.
  simgrid::s4u::CommPtr start_flow(const CoupledRounds& rounds, double bytes);
  /// Starts a prepared message whose latency ends in `latency_s`. Costs a context switch unless
  /// called within in_one_switch.
  void start(simgrid::s4u::Comm& message, double latency_s);
  /// `suspend` stops a message that moves, and `resume` lets it continue. Call them only while no
  /// actor runs (see `at`).
  void suspend(const simgrid::s4u::Comm& message);
  void resume(const simgrid::s4u::Comm& message);
  /// Calls `connection.advance()` as soon as the connection can start another message.
  void watch(Connection& connection);
  /// Current token-bucket fill of every shaped link, in bytes.
  std::vector<double> credits() const;
  /// Runs until every actor has ended, `stop` is called, or no actor can continue. In the last case
  /// it calls `on_deadlock`.
  ///
  /// Actors that have not ended are not unwound, because their destructors would refer to other
  /// actors' variables in an arbitrary order.
  void run(const std::function<void()>& on_deadlock);
  /// Makes `run` return before time advances. Actors that can run at this date still do.
  void stop();

 private:
  NetworkZone* zone_;  // SimGrid owns it
  std::shared_ptr<DeliveryWatch> watch_;
  std::vector<simgrid::s4u::Host*> hosts_;  // by rank, then the two end points of coupled flows
};

}  // namespace trigram::sim
