#include "tests/support/training.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>

#include "algorithms/registry.h"
#include "core/optimizers/registry.h"
#include "core/workloads/registry.h"
#include "core/workloads/slowed_workload.h"
#include "cuda/cuda_accelerator.h"
#include "netmodels/machines.h"
#include "netmodels/topologies/topology.h"
#include "runtime/mpi/mpi_runtime.h"
#include "runtime/sim/sim_runtime.h"
#include "runtime/threads/threads_runtime.h"
#include "tests/support/host_gradients.h"
#include "tests/support/in_child.h"
#include "tests/support/share.h"

namespace trigram::test {
namespace {

constexpr std::chrono::seconds kTimeout{100};

std::unique_ptr<Runtime> make_runtime(const Training& training) {
  if (training.world == "threads") return make_threads_runtime({}, training.cluster);
  const MpiOptions options{.modelled_compute = ModelledCompute::skipped};
  if (training.world == "mpi") return make_mpi_runtime(options);
  if (training.world == "nccl")
    return make_mpi_runtime(options, [](Bootstrap& bootstrap, Waiter& waiter) {
      return make_cuda_accelerator({.ranks_per_gpu = 8, .memory_bytes = 256e6, .environment = {}},
                                   bootstrap, waiter);
    });
  return make_sim_runtime(training.sim, training.cluster);
}

/// State shared by the ranks of a run.
class Session {
 public:
  explicit Session(const Training& training)
      : training_(training),
        entry_(find_component(algorithms(), "algorithm", training.algorithm, "/algorithm")),
        algorithm_(resolve_component(algorithms(), "algorithm", training.algorithm, "/algorithm")),
        optimizer_(resolve_component(optimizers(), "optimizer", training.optimizer, "/optimizer")),
        factory_(make_workload_factory(resolve_workload(training.workload, "/workload", "."),
                                       "/workload")),
        machine_(make_machine_model(training.cluster)) {
    const auto ranks = static_cast<std::size_t>(training.cluster.ranks());
    result.ended_s.resize(ranks);
    result.counters.resize(ranks);
    result.events.resize(ranks);
    result.weights.resize(ranks);
    entry_.check(algorithm_, training.cluster.layout(), "/algorithm");
  }

  void run_rank(const Context& raw) {
    const auto rank = static_cast<std::size_t>(raw.world_rank);
    const Workers workers = entry_.workers(algorithm_, training_.cluster.layout());
    Meter* step_meter = nullptr;  // set below, because the meter needs the steps
    Steps steps(training_.steps, {[&](long step) {
                                    if (!workers.include(raw.world_rank)) return;
                                    const double delay_s = machine_->delay(raw.world_rank, step);
                                    if (delay_s > 0) raw.stream->sleep_for(delay_s);
                                  },
                                  [&](long) {
                                    if (!training_.reports_steps) return;
                                    raw.stream->synchronize();
                                    // Makes the meter add up the pending events of the step.
                                    step_meter->counters();
                                  }});
    auto meter = instrument(raw, {.phantom = !factory_->has_values(),
                                  .machine = machine_.get(),
                                  .steps = &steps,
                                  .sink = training_.events ? sink(rank) : EventSink{}});
    step_meter = meter.get();
    const Context ctx = meter->context();
    auto workload =
        training_.host_gradients
            ? with_host_gradients(*factory_, workers.worker_context(ctx), training_.seed)
            : factory_->make(workers.worker_context(ctx), training_.seed);
    if (training_.world != "sim" && factory_->has_values())
      workload = slowed(std::move(workload), *raw.stream, *machine_, steps);
    const Execution execution = entry_.traits(algorithm_).execution;
    workload->bucketize(execution.buckets());
    auto optimizer = find_component(optimizers(), "optimizer", optimizer_, "/optimizer")
                         .make(component_options(optimizer_), workers.worker_context(ctx),
                               *workload, training_.steps);
    Run run{*workload, *optimizer, steps, execution, training_.seed};
    entry_.make(component_options(algorithm_))->train(ctx, run);
    ctx.stream->synchronize();
    result.ended_s[rank] = raw.stream->now();
    result.counters[rank] = meter->counters();
    result.weights[rank] = raw.device->download(workload->weights());
    const bool rank_is_process = launched() && training_.world != "threads";
    if (rank == 0 || rank_is_process)
      for (const Bucket& b : workload->buckets()) result.buckets.push_back(b.grad.priced_numel());
    if (rank_is_process) gather(raw, rank);
  }

  Trained result;

 private:
  /// Exchanges the results: a rank that is a process has only its own result.
  void gather(const Context& raw, std::size_t self) {
    std::vector<std::string> all(result.weights.size());
    all[self] = to_bytes(result);
    allgather_texts(raw, all);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const Trained received = trained_from_bytes(all[rank]);
      result.ended_s[rank] = received.ended_s[rank];
      result.counters[rank] = received.counters[rank];
      result.events[rank] = received.events[rank];
      result.weights[rank] = received.weights[rank];
    }
  }
  EventSink sink(std::size_t rank) {
    return [this, rank](const Event& event) {
      std::lock_guard guard(mutex_);  // the streams of a rank may be different threads
      result.events[rank].push_back(event);
    };
  }

  const Training& training_;
  const AlgorithmEntry& entry_;
  Json algorithm_, optimizer_;
  std::unique_ptr<WorkloadFactory> factory_;
  std::unique_ptr<MachineModel> machine_;
  std::mutex mutex_;
};

/// Makes the tables of all components, which children then inherit.
void make_tables() {
  algorithms();
  optimizers();
  topologies();
  workloads();
}

}  // namespace

double Trained::seconds() const { return *std::max_element(ended_s.begin(), ended_s.end()); }

std::size_t Trained::model_priced_numel() const {
  return std::accumulate(buckets.begin(), buckets.end(), std::size_t{0});
}

Trained train_here(const Training& training) {
  Session session(training);
  const auto runtime = make_runtime(training);
  runtime->launch(training.cluster.layout(), [&](const Context& raw) { session.run_rank(raw); });
  session.result.notes = runtime->notes().dump();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  session.result.max_rss_kib = usage.ru_maxrss;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  session.result.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return std::move(session.result);
}

Trained train(const Training& training) {
  if (training.world != "sim") return train_here(training);
  make_tables();
  const std::string bytes =
      bytes_from_child([&] { return to_bytes(train_here(training)); }, kTimeout);
  return bytes.empty() ? Trained{} : trained_from_bytes(bytes);
}

bool launched() { return mpi_unavailable_reason().empty(); }

Cluster small_cluster(int nodes, int workers_per_node) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.workers_per_node = workers_per_node;
  cluster.intra = {10e9, 5e-6};
  cluster.inter = {1e9, 25e-6};
  return cluster;
}

bool short_training() { return std::getenv("TRIGRAM_SHORT_TRAINING") != nullptr; }

}  // namespace trigram::test
