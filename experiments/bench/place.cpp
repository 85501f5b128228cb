#include "experiments/bench/place.h"

#include <fmt/format.h>

#include "core/config/json_text.h"
#include "experiments/config/cluster_file.h"
#include "experiments/job/job.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

Json read_cluster(const std::string& name) {
  if (name.empty()) return nullptr;
  const ClusterFile file = read_cluster_file(name, "--cluster");
  return {{"description", file.description}, {"pointer", file.pointer}, {"path", file.path}};
}

/// A cluster with one rank per node.
Cluster one_rank_per_node(int ranks) {
  Cluster cluster;
  cluster.nodes = ranks;
  return cluster;
}

/// A cluster of one node whose workers are the ranks of this machine.
Cluster one_node(int ranks) {
  Cluster cluster;
  cluster.workers_per_node = ranks;
  return cluster;
}

Cluster cluster_of(const Json& file, int wanted_ranks, const World& world) {
  const int started = world.processes ? mpi_process().size : 0;
  const int ranks = started > 0 ? started : wanted_ranks;
  if (started > 0 && wanted_ranks > 0 && wanted_ranks != started)
    throw ConfigError("--ranks", fmt::format("expected the number of started processes, {}, not {}",
                                             started, wanted_ranks));
  if (file.is_null()) {
    constexpr int kFewest = 2;
    return (world.simulated ? one_rank_per_node : one_node)(ranks > 0 ? ranks : kFewest);
  }
  const Cluster cluster =
      ClusterFile{file.at("description"), file.at("pointer"), file.at("path")}.cluster();
  if (ranks > 0 && cluster.ranks() != ranks)
    throw ConfigError("--cluster", fmt::format("has {} workers; expected {}, as many as ranks",
                                               cluster.ranks(), ranks));
  return cluster;
}

}  // namespace

Json parse_component(const std::string& text, const std::string& option) {
  if (!text.starts_with('{')) return text;
  const auto parsed = try_parse_json(text);
  if (!parsed) throw ConfigError(option, "expected a name or an object in JSON");
  return *parsed;
}

Json read_place(const PlaceOptions& options) {
  const Json runtime = options.runtime.empty() ? Json(in_a_job() ? "mpi" : "threads")
                                               : parse_component(options.runtime, "--runtime");
  return {{"runtime", resolve_component(worlds(), "world", runtime, "--runtime")},
          {"cluster", read_cluster(options.cluster)},
          {"ranks", options.ranks}};
}

BenchPlace find_place(const Json& description) {
  const Json& runtime = description.at("runtime");
  const World& world = find_component(worlds(), "world", runtime, "--runtime");
  if (!world.unavailable.empty())
    throw ConfigError("--runtime", fmt::format("the world \"{}\" is not available: {}", world.name,
                                               world.unavailable));
  if (has_other_processes() && !world.processes)
    throw ConfigError(
        "--runtime",
        fmt::format("a launcher started {} processes; expected a world of processes, not {}",
                    mpi_process().size, world.name));
  return {&world, runtime, cluster_of(description.at("cluster"), description.at("ranks"), world)};
}

std::unique_ptr<Runtime> BenchPlace::make_runtime() const {
  // Worlds use the workload only for the time of modelled computation, and benchmarks have no such
  // computation.
  const auto workload = make_workload_factory(
      resolve_workload({{"name", "quadratic"}, {"values", false}}, "", "."), "");
  return world->make(runtime, cluster, *workload);
}

}  // namespace trigram
