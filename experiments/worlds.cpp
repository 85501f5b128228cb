#include "experiments/worlds.h"

#include "cuda/cuda_accelerator.h"
#include "netmodels/fragments.h"
#include "runtime/mpi/mpi_runtime.h"
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
  runtime.resolve = [resolve = runtime.resolve, fields = sim_fields()](const Json& j,
                                                                       const std::string& pointer) {
    check_sim_options(fields.parse(j, pointer), pointer);
    return resolve(j, pointer);
  };
  return {std::move(runtime),
          true,
          false,
          false,
          sim_unavailable_reason(),
          {},
          false,
          sim_unavailable_reason(),
          [](const Runtime& made) {
            return static_cast<const SimulatedRuntime&>(made).link_credits();
          }};
}

World threads() {
  auto runtime = component<Runtime, const Cluster&, const WorkloadFactory&>(
      "threads", "Real time: a thread of this machine for each rank; messages are copies in memory",
      threads_fields(),
      [](const ThreadsOptions& options, const Cluster& cluster, const WorkloadFactory&) {
        return make_threads_runtime(options, cluster);
      });
  return {std::move(runtime), false, false, false, "", [](const Json& options) {
            return options.at("shaping") == "cluster";
          }};
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
  return {std::move(runtime),
          false,
          true,
          true,
          mpi_unavailable_reason(),
          [](const Json& options) { return options.at("emulated") != "nothing"; },
          false,
          mpi_absent_reason()};
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
  std::string unavailable = mpi_unavailable_reason();
  if (unavailable.empty()) unavailable = cuda_unavailable_reason();
  std::string absent = mpi_absent_reason();
  if (absent.empty()) absent = cuda_absent_reason();
  return {std::move(runtime),     false, true, true,
          std::move(unavailable), {},    true, std::move(absent)};
}

}  // namespace

const std::vector<World>& worlds() {
  static const std::vector<World> entries = {sim(), threads(), mpi(), nccl()};
  return entries;
}

}  // namespace trigram
