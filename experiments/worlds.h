#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/component.h"
#include "core/runtime.h"
#include "core/workloads/registry.h"
#include "netmodels/cluster.h"
#include "runtime/sim/sim_runtime.h"

namespace trigram {

/// A world in which experiments can run: a runtime, with its name and options in the configuration.
struct World : Component<Runtime, const Cluster&, const WorkloadFactory&> {
  bool simulated = false;  // true: virtual time; false: the steady clock
  /// True if a launcher starts a process per rank; false if all ranks are in this process.
  bool processes = false;
  bool native = false;           // true if it has its own collectives (Communicator::native)
  std::string unavailable = {};  // why this build or machine cannot run it; empty if it can
  /// Given resolved options, returns true if the world emulates the cluster's network in real time.
  /// An empty function means that it never does.
  std::function<bool(const Json& options)> emulates = {};
  /// True if all ranks must issue their data operations in the same order, over all streams.
  bool one_order = false;
  /// The reason why this build lacks the world on any machine; empty if it is built in.
  std::string absent = {};
  /// Token-bucket fill of every shaped link during a launch, in bytes, always in the same order.
  /// The function is empty if the world does not model links.
  std::function<std::vector<double>(const Runtime&)> link_credits = {};
  /// SimulatedRuntime::end_at; empty if time is not simulated.
  std::function<void(Runtime&, double date_s)> end_at = {};
  /// SimulatedRuntime::heartbeat_arrival_s; empty if time is not simulated.
  std::function<double(Runtime&, int source, int destination, double nbytes, bool behind_bulk)>
      heartbeat_arrival_s = {};
  /// SimulatedRuntime::add_job; empty if time is not simulated.
  std::function<void(Runtime&, OtherJob)> add_job = {};
};

/// All worlds, including those that this build lacks.
const std::vector<World>& worlds();

}  // namespace trigram
