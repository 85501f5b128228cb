#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/runtime.h"
#include "netmodels/cluster.h"

namespace trigram {

struct SimOptions {
  /// alpha_beta: a message of n bytes takes latency + n / bandwidth, and links are shared max-min
  /// fairly. tcp: SimGrid's LV08, fitted to TCP (Velho and Legrand, "Accuracy Study and Improvement
  /// of Network Simulation in the SimGrid Framework", SIMUTools 2009): latency times 13.01,
  /// bandwidth times 0.97, a window limit, and acknowledgements that load the reverse path.
  enum class NetworkModel { alpha_beta, tcp } network_model = NetworkModel::alpha_beta;
  /// How collectives that consist of rounds are simulated (core/collective_pricer.h). message: each
  /// message separately. fluid: as coupled flows, which takes time linear in the number of workers
  /// rather than quadratic. auto: as flows only if these are known to give the same times.
  enum class Fidelity { message, fluid, automatic } fidelity = Fidelity::message;
};

FieldTable<SimOptions> sim_fields();
/// Throws ConfigError if options contradict each other.
void check_sim_options(const SimOptions& options, const std::string& pointer);

/// False in a build without SimGrid.
bool sim_available();
/// Names the missing library and how to install it; empty if the world is available.
std::string sim_unavailable_reason();

/// A job that shares the network with the job that is launched.
struct OtherJob {
  std::string name;
  Cluster cluster;  // its part of the whole cluster (netmodels/part_of_cluster.h)
  Layout layout;    // of its part
  Task rank_main;
};

/// A simulated world whose network state can be read during a launch.
class SimulatedRuntime : public Runtime {
 public:
  /// Adds a job to the next launch, whose cluster must be another part of the same whole. The
  /// launch ends when its own ranks have ended; other jobs that have not ended are then left
  /// unfinished. An exception in any job ends the launch.
  virtual void add_job(OtherJob job) = 0;
  /// Makes the present launch or, outside a launch, the next one end at a date of its clock, in
  /// seconds, with SimulationEnded, unless all ranks have ended before.
  virtual void end_at(double date_s) = 0;
  /// The date at which a heartbeat of `nbytes` bytes arrives that `source` sends to `destination`
  /// now, during a launch. `behind_bulk`: it waits in the queues of links behind the bytes of
  /// training (netmodels/link_queues.h).
  virtual double heartbeat_arrival_s(int source, int destination, double nbytes,
                                     bool behind_bulk) = 0;
  /// Current token-bucket fill of every shaped link, in bytes. The order of links is always the
  /// same.
  virtual std::vector<double> link_credits() const = 0;
};

/// The simulated world: ranks and streams are actors of SimGrid, and time is virtual. `launch` must
/// be given the cluster's layout. SimGrid allows one simulation per process: a second launch throws
/// InvariantError. Throws ConfigError in a build without SimGrid.
///
/// A task that catches an exception must leave the catch block before it communicates or waits,
/// because actors share the exception state of their one thread.
std::unique_ptr<SimulatedRuntime> make_sim_runtime(const SimOptions& options,
                                                   const Cluster& cluster);

}  // namespace trigram
