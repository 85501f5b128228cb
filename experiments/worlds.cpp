#include "experiments/worlds.h"

#include <utility>

#include "cuda/cuda_accelerator.h"
#include "netmodels/fragments.h"
#include "runtime/mpi/mpi_runtime.h"
#include "runtime/threads/threads_runtime.h"

namespace trigram {
namespace {

World sim() {
  auto runtime = component<Runtime, const Cluster&, const WorkloadFactory&>(
      "sim", "Virtual time on SimGrid: any cluster on one core", sim_fields(),
      [](const SimOptions& options, const Cluster& cluster, const WorkloadFactory&) {
        return make_sim_runtime(options, cluster);
      });
  runtime.resolve = [resolve = runtime.resolve, fields = sim_fields()](const Json& j,
                                                                       const std::string& pointer) {
    check_sim_options(fields.parse(j, pointer), pointer);
    return resolve(j, pointer);
  };
  World world{std::move(runtime)};
  world.simulated = true;
  world.unavailable = world.absent = sim_unavailable_reason();
  world.link_credits = [](const Runtime& simulated) {
    return static_cast<const SimulatedRuntime&>(simulated).link_credits();
  };
  world.end_at = [](Runtime& simulated, double date_s) {
    static_cast<SimulatedRuntime&>(simulated).end_at(date_s);
  };
  world.heartbeat_arrival_s = [](Runtime& simulated, int source, int destination, double nbytes,
                                 bool behind_bulk) {
    return static_cast<SimulatedRuntime&>(simulated).heartbeat_arrival_s(source, destination,
                                                                         nbytes, behind_bulk);
  };
  world.add_job = [](Runtime& simulated, OtherJob job) {
    static_cast<SimulatedRuntime&>(simulated).add_job(std::move(job));
  };
  return world;
}

World threads() {
  auto runtime = component<Runtime, const Cluster&, const WorkloadFactory&>(
      "threads", "Real time: a thread of this machine for each rank; messages are copies in memory",
      threads_fields(),
      [](const ThreadsOptions& options, const Cluster& cluster, const WorkloadFactory&) {
        return make_threads_runtime(options, cluster);
      });
  World world{std::move(runtime)};
  world.emulates = [](const Json& options) { return options.at("shaping") == "cluster"; };
  return world;
}

World mpi() {
  auto runtime = component<Runtime, const Cluster&, const WorkloadFactory&>(
      "mpi",
      "Real time: a process for each rank, started by mpirun or srun; messages are sent by MPI",
      mpi_fields(), [](const MpiOptions& options, const Cluster& cluster, const WorkloadFactory&) {
        MpiOptions all = options;
        all.transport = cluster.transport;
        if (all.emulated == Emulated::bandwidth) all.added_latency_s = cluster.inter.latency_s;
        if (all.emulated == Emulated::bandwidth_and_latency)
          all.eager = {cluster.inter.latency_s, eager_bytes(nic_bandwidths(cluster))};
        return make_mpi_runtime(all);
      });
  World world{std::move(runtime)};
  world.processes = world.native = true;
  world.unavailable = mpi_unavailable_reason();
  world.absent = mpi_absent_reason();
  world.emulates = [](const Json& options) { return options.at("emulated") != "nothing"; };
  return world;
}

struct NcclOptions {
  MpiOptions job;
  CudaOptions cuda;
};

World nccl() {
  const auto fields = FieldTable<NcclOptions>{}
                          .include(&NcclOptions::job, mpi_job_fields())
                          .include(&NcclOptions::cuda, cuda_fields());
  auto runtime = component<Runtime, const Cluster&, const WorkloadFactory&>(
      "nccl",
      "Real time: a process and a GPU for each rank, started by mpirun or srun; messages are sent "
      "by NCCL",
      fields, [](const NcclOptions& options, const Cluster&, const WorkloadFactory&) {
        CudaOptions cuda = options.cuda;
        cuda.padded = options.job.padded;
        return make_mpi_runtime(options.job, [cuda](Bootstrap& bootstrap, Waiter& waiter) {
          return make_cuda_accelerator(cuda, bootstrap, waiter);
        });
      });
  World world{std::move(runtime)};
  world.processes = world.native = world.one_order = true;
  world.unavailable = mpi_unavailable_reason();
  if (world.unavailable.empty()) world.unavailable = cuda_unavailable_reason();
  world.absent = mpi_absent_reason();
  if (world.absent.empty()) world.absent = cuda_absent_reason();
  return world;
}

}  // namespace

const std::vector<World>& worlds() {
  static const std::vector<World> entries = {sim(), threads(), mpi(), nccl()};
  return entries;
}

}  // namespace trigram
