#include "tests/support/training.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <ostream>

#include "algorithms/registry.h"
#include "core/optimizers/registry.h"
#include "core/workloads/registry.h"
#include "core/workloads/slowed_workload.h"
#include "cuda/cuda_accelerator.h"
#include "netmodels/machines.h"
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
      return make_cuda_accelerator({.ranks_per_gpu = 8, .memory_bytes = 256e6}, bootstrap, waiter);
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
    Meter* meter_of_steps = nullptr;
    Steps steps(training_.steps, {[&](long step) {
                                    if (!workers.include(raw.world_rank)) return;
                                    const double delay_s = machine_->delay(raw.world_rank, step);
                                    if (delay_s > 0) raw.stream->sleep_for(delay_s);
                                  },
                                  [&](long) {
                                    if (!training_.reports_steps) return;
                                    raw.stream->synchronize();
                                    meter_of_steps->counters();
                                  }});
    auto meter = instrument(raw, {.phantom = !factory_->has_values(),
                                  .machine = machine_.get(),
                                  .steps = &steps,
                                  .sink = training_.events ? sink(rank) : EventSink{}});
    meter_of_steps = meter.get();
    const Context ctx = meter->context();
    auto workload = training_.host_gradients
                        ? with_host_gradients(*factory_, workers.numbered(ctx), training_.seed)
                        : factory_->make(workers.numbered(ctx), training_.seed);
    if (training_.world != "sim" && factory_->has_values())
      workload = slowed(std::move(workload), *raw.stream, *machine_, steps);
    const Execution execution = entry_.traits(algorithm_).execution;
    workload->bucketize(execution.buckets());
    auto optimizer =
        find_component(optimizers(), "optimizer", optimizer_, "/optimizer")
            .make(component_options(optimizer_), workers.numbered(ctx), *workload, training_.steps);
    Run run{*workload, *optimizer, steps, execution, training_.seed};
    entry_.make(component_options(algorithm_))->train(ctx, run);
    ctx.stream->synchronize();
    result.ended_s[rank] = raw.stream->now();
    result.counters[rank] = meter->counters();
    result.weights[rank] = raw.device->download(workload->weights());
    const bool processes = launched() && training_.world != "threads";
    if (rank == 0 || processes)
      for (const Bucket& b : workload->buckets()) result.buckets.push_back(b.grad.priced_numel());
    if (processes) gather(raw, rank);
  }

  Trained result;

 private:
  /// If every rank is a process, each process has only its own results; this exchanges them.
  void gather(const Context& raw, std::size_t self) {
    std::vector<std::string> all(result.weights.size());
    all[self] = to_bytes(result);
    share(raw, all);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const Trained theirs = trained_from_bytes(all[rank]);
      result.ended_s[rank] = theirs.ended_s[rank];
      result.counters[rank] = theirs.counters[rank];
      result.events[rank] = theirs.events[rank];
      result.weights[rank] = theirs.weights[rank];
    }
  }
  EventSink sink(std::size_t rank) {
    return [this, rank](const Event& event) {
      std::lock_guard guard(mutex_);  // the streams of a rank may be threads
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

}  // namespace

double Trained::seconds() const { return *std::max_element(ended_s.begin(), ended_s.end()); }

std::size_t Trained::model() const {
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

void PrintTo(const NamedAlgorithm& algorithm, std::ostream* out) { *out << algorithm.name; }

std::vector<NamedAlgorithm> deterministic_algorithms() {
  std::vector<NamedAlgorithm> all;
  auto add = [&](const std::string& name, const char* option, const char* choice) {
    for (bool hierarchical : {false, true}) {
      Json spec = {{"name", name}, {"hierarchical", hierarchical}};
      if (option) spec[option] = choice;
      all.push_back(
          {name + (option ? std::string("_") + choice : "") + (hierarchical ? "_hierarchical" : ""),
           std::move(spec)});
    }
  };
  for (const char* allreduce :
       {"ring", "recursive_doubling", "rabenseifner", "double_tree", "nccl"})
    add("gradient_allreduce", "allreduce", allreduce);
  all.push_back(
      {"gradient_allreduce_channels",
       {{"name", "gradient_allreduce"}, {"allreduce", {{"name", "ring"}, {"channels", 3}}}}});
  all.push_back({"gradient_allreduce_segments",
                 {{"name", "gradient_allreduce"}, {"hierarchical", true}, {"segment", "100kB"}}});
  all.push_back({"parameter_server", {{"name", "parameter_server"}}});
  all.push_back({"parameter_server_two",
                 {{"name", "parameter_server"}, {"servers", 2}, {"partition", "1MB"}}});
  all.push_back({"parameter_server_beside",
                 {{"name", "parameter_server"}, {"servers", 1}, {"placement", "beside"}}});
  all.push_back({"parameter_server_by_need",
                 {{"name", "parameter_server"},
                  {"bucket", "0B"},
                  {"servers", 2},
                  {"partition", "1MB"},
                  {"priority", "need"}}});
  all.push_back({"parameter_server_hierarchical",
                 {{"name", "parameter_server"},
                  {"hierarchical", true},
                  {"partition", "1MB"},
                  {"priority", "need"}}});
  all.push_back({"parameter_server_hashed",
                 {{"name", "parameter_server"},
                  {"bucket", "0B"},
                  {"partition", "1MB"},
                  {"assignment", "djb2"},
                  {"priority", "need"}}});
  all.push_back({"gradient_allreduce_first_bucket",
                 {{"name", "gradient_allreduce"},
                  {"bucket", "1kB"},
                  {"first_bucket", "0B"},
                  {"synchronize", true}}});
  add("bytegrad", nullptr, nullptr);
  add("bytegrad", "phase2", "direct");
  for (const char* format : {"fp16", "bf16"}) add("half_precision_allreduce", "format", format);
  auto add_with = [&](const std::string& name, const char* option, int value) {
    for (bool hierarchical : {false, true})
      all.push_back({name + (hierarchical ? "_hierarchical" : ""),
                     {{"name", name}, {"hierarchical", hierarchical}, {option, value}}});
  };
  add("qsgd", nullptr, nullptr);
  all.push_back(
      {"qsgd_elias",
       {{"name", "qsgd"}, {"codec", {{"name", "qsgd"}, {"levels", 7}, {"coding", "elias"}}}}});
  for (const char* name : {"terngrad", "onebit_sgd", "ef_signsgd", "signsgd_majority"})
    add(name, nullptr, nullptr);
  for (const bool hierarchical : {false, true})
    all.push_back(
        {hierarchical ? "dgc_hierarchical" : "dgc",
         {{"name", "dgc"}, {"density", 0.1}, {"warmup_every", 1}, {"hierarchical", hierarchical}}});
  all.push_back({"topk", {{"name", "topk"}, {"codec", {{"name", "topk"}, {"density", 0.25}}}}});
  all.push_back({"topk_hierarchical",
                 {{"name", "topk"},
                  {"codec", {{"name", "topk"}, {"density", 0.25}}},
                  {"hierarchical", true}}});
  for (const bool hierarchical : {false, true}) {
    const std::string suffix = hierarchical ? "_hierarchical" : "";
    all.push_back(
        {"gtopk" + suffix, {{"name", "gtopk"}, {"density", 0.25}, {"hierarchical", hierarchical}}});
    all.push_back({"oktopk" + suffix,
                   {{"name", "oktopk"},
                    {"density", 0.25},
                    {"threshold_every", 2},
                    {"rebalance_every", 2},
                    {"hierarchical", hierarchical}}});
  }
  add_with("powersgd", "rank", 1);
  add_with("onebit_adam", "warmup_steps", 2);
  for (const bool hierarchical : {false, true})
    all.push_back({hierarchical ? "zeroone_adam_hierarchical" : "zeroone_adam",
                   {{"name", "zeroone_adam"},
                    {"freeze_step", 2},
                    {"variance_doubling", 1},
                    {"local_doubling", 1},
                    {"max_local_steps", 2},
                    {"hierarchical", hierarchical}}});
  add_with("qadam", "warmup_steps", 2);
  add_with("local_sgd", "sync_every", 2);
  add_with("dropcompute", "profile_steps", 0);
  add_with("slowmo", "sync_every", 2);
  add_with("bmuf", "sync_every", 2);
  add_with("diloco", "sync_every", 2);
  add_with("easgd", "sync_every", 2);
  all.push_back(
      {"post_local_sgd", {{"name", "post_local_sgd"}, {"switch_step", 2}, {"sync_every", 2}}});
  all.push_back({"post_local_sgd_hierarchical",
                 {{"name", "post_local_sgd"},
                  {"switch_step", 2},
                  {"sync_every", 2},
                  {"hierarchical", true}}});
  for (const char* mode : {"all", "shift_one", "ring"}) add("decentralized", "mode", mode);
  for (const char* graph : {"torus", "random_matching"}) add("dpsgd", "graph", graph);
  for (const char* graph : {"one_peer_exponential", "star"}) add("sgp", "graph", graph);
  for (const int tau : {1, 2})
    all.push_back({"osgp_" + std::to_string(tau), {{"name", "osgp"}, {"overlap_steps", tau}}});
  all.push_back({"osgp_in_buckets", {{"name", "osgp"}, {"graph", "star"}, {"bucket", "50B"}}});
  add("moshpit", nullptr, nullptr);
  all.push_back({"moshpit_rounds",
                 {{"name", "moshpit"}, {"grid", {2, 4}}, {"rounds", 2}, {"bucket", "50B"}}});
  all.push_back(
      {"swarm_sgd_blocking", {{"name", "swarm_sgd"}, {"mode", "blocking"}, {"local_steps", 1}}});
  add("dpsgd", "graph", "base_k");
  for (const bool hierarchical : {false, true})
    for (const char* name : {"local_sgd", "decentralized", "dpsgd", "sgp"}) {
      Json spec = {{"name", name}, {"bucket", "50B"}, {"hierarchical", hierarchical}};
      if (name == std::string("local_sgd")) spec["sync_every"] = 2;
      all.push_back({name + std::string("_in_buckets") + (hierarchical ? "_hierarchical" : ""),
                     std::move(spec)});
    }
  for (const char* graph : {"shuffled_exponential", "ring"}) add("gossipgrad", "graph", graph);
  for (const char* graph : {"ring", "grid"}) add("dcd_psgd", "graph", graph);
  for (const bool hierarchical : {false, true}) {
    const std::string suffix = hierarchical ? "_in_buckets_hierarchical" : "_in_buckets";
    for (const char* name : {"dcd_psgd", "decentralized"})
      all.push_back({name + std::string("_at_intervals") + suffix,
                     {{"name", name},
                      {"bucket", "50B"},
                      {"communication_interval", 2},
                      {"synchronize", true},
                      {"hierarchical", hierarchical}}});
    for (const char* name : {"diloco", "easgd"})
      all.push_back(
          {name + suffix,
           {{"name", name}, {"bucket", "50B"}, {"sync_every", 2}, {"hierarchical", hierarchical}}});
  }
  add("ecd_psgd", "graph", "ring");
  for (const char* graph : {"ring", "random_matching"}) add("deepsqueeze", "graph", graph);
  add("choco_sgd", "graph", "complete");
  all.push_back({"dcd_psgd_qsgd", {{"name", "dcd_psgd"}, {"codec", "qsgd"}}});
  all.push_back(
      {"choco_sgd_topk", {{"name", "choco_sgd"}, {"codec", {{"name", "topk"}, {"density", 0.1}}}}});
  return all;
}

std::vector<NamedAlgorithm> every_algorithm() {
  auto all = deterministic_algorithms();
  all.push_back({"dropcompute_given",
                 {{"name", "dropcompute"}, {"micro_batches", 3}, {"threshold", "200us"}}});
  all.push_back({"async_model_average_by_steps",
                 {{"name", "async_model_average"}, {"interval_steps", 2}, {"warmup_steps", 1}}});
  all.push_back(
      {"async_model_average_by_time", {{"name", "async_model_average"}, {"interval", "100us"}}});
  all.push_back({"gradient_allreduce_fusion_buffer",
                 {{"name", "gradient_allreduce"},
                  {"bucket", "0B"},
                  {"fusion_buffer", {{"cycle", "100us"}}}}});
  all.push_back({"eager_sgd_solo", {{"name", "eager_sgd"}, {"mode", "solo"}, {"sync_every", 3}}});
  all.push_back({"eager_sgd_majority", {{"name", "eager_sgd"}, {"mode", "majority"}}});
  all.push_back({"wagma", {{"name", "wagma"}, {"tau", 3}, {"group_size", 2}}});
  all.push_back(
      {"wagma_in_buckets", {{"name", "wagma"}, {"tau", 3}, {"group_size", 2}, {"bucket", "50B"}}});
  all.push_back({"wagma_coded", {{"name", "wagma"}, {"codec", "minmax_uint8"}}});
  all.push_back({"async_parameter_server", {{"name", "async_parameter_server"}}});
  all.push_back({"async_parameter_server_coded",
                 {{"name", "async_parameter_server"}, {"servers", 2}, {"codec", "minmax_uint8"}}});
  all.push_back({"ssp", {{"name", "ssp"}, {"staleness", 1}}});
  all.push_back({"ssp_coded",
                 {{"name", "ssp"}, {"servers", 2}, {"codec", "minmax_uint8"}, {"staleness", 1}}});
  all.push_back({"dsgd_aau", {{"name", "dsgd_aau"}}});
  all.push_back({"dsgd_aau_complete", {{"name", "dsgd_aau"}, {"graph", "complete"}}});
  all.push_back({"adpsgd", {{"name", "adpsgd"}}});
  all.push_back({"adpsgd_coded", {{"name", "adpsgd"}, {"codec", "minmax_uint8"}}});
  all.push_back({"swarm_sgd", {{"name", "swarm_sgd"}, {"local_steps", 1}}});
  all.push_back({"adpsgd_ring_sign", {{"name", "adpsgd"}, {"graph", "ring"}, {"codec", "sign"}}});
  return all;
}

std::vector<int> workers_of(const Training& training) {
  const auto& entry = find_component(algorithms(), "algorithm", training.algorithm, "");
  return entry
      .workers(resolve_component(algorithms(), "algorithm", training.algorithm, ""),
               training.cluster.layout())
      .ranks;
}

bool short_training() { return std::getenv("TRIGRAM_SHORT_TRAINING") != nullptr; }

bool fits(const NamedAlgorithm& algorithm, const Cluster& cluster) {
  const auto& entry = find_component(algorithms(), "algorithm", algorithm.spec, "");
  try {
    entry.check(resolve_component(algorithms(), "algorithm", algorithm.spec, ""), cluster.layout(),
                "");
  } catch (const ConfigError&) {
    return false;
  }
  return true;
}

}  // namespace trigram::test
