#include "experiments/worlds.h"

#include "runtime/sim/sim_runtime.h"
#include "runtime/threads/threads_runtime.h"

namespace trigram {
namespace {

World sim() {
  auto runtime = component<Runtime, const Cluster&, const WorkloadFactory&>(
      "sim", "Virtual time on SimGrid: any cluster on one core", sim_fields(),
      [](const SimOptions& options, const Cluster& cluster, const WorkloadFactory&) {
        return make_sim_runtime(options, cluster);
      });
  return {std::move(runtime), true, sim_unavailable_reason()};
}

World threads() {
  auto runtime = component<Runtime, const Cluster&, const WorkloadFactory&>(
      "threads", "Real time: a thread of this machine for each rank, messages are copies in memory",
      threads_fields(),
      [](ThreadsOptions options, const Cluster&, const WorkloadFactory& workload) {
        if (options.modelled_compute == ModelledCompute::automatic && workload.has_values())
          options.modelled_compute = ModelledCompute::skipped;
        return make_threads_runtime(options);
      });
  return {std::move(runtime), false, ""};
}

}  // namespace

const std::vector<World>& worlds() {
  static const std::vector<World> entries = {sim(), threads()};
  return entries;
}

}  // namespace trigram
