#include "experiments/config/feasibility.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/optimizers/registry.h"
#include "experiments/config/algorithm_feasibility.h"
#include "experiments/config/resized.h"
#include "netmodels/coupled_rounds.h"
#include "netmodels/partitions.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

/// Optimizers that take norms of tensors, or multiply them as matrices, need to know where the
/// tensors of a bucket begin, and their shapes.
void check_tensors(const Experiment& e, const WorkloadFactory& workload) {
  using Needs = OptimizerEntry::Needs;
  const OptimizerEntry& optimizer =
      find_component(optimizers(), "optimizer", e.optimizer, "/optimizer");
  const TensorDetail known = workload.tensor_detail();
  if (optimizer.needs == Needs::elements || known == TensorDetail::shapes) return;
  if (known == TensorDetail::none)
    throw ConfigError("/optimizer",
                      fmt::format("{} updates each tensor as a whole, and the buckets of a model "
                                  "with the prices of another one cut its tensors; expected a "
                                  "workload without priced_as, or an element-wise optimizer, such "
                                  "as adamw",
                                  optimizer.name));
  if (optimizer.needs == Needs::shapes)
    throw ConfigError("/optimizer",
                      fmt::format("{} multiplies tensors as matrices, and this workload knows only "
                                  "the lengths of its tensors; expected a workload with shapes, "
                                  "such as fashion_mnist, or another optimizer, such as lamb",
                                  optimizer.name));
}

/// Refuses properties that an emulated network does not have: changes over time, and effects that
/// depend on the traffic pattern.
void check_emulated(const Experiment& e) {
  if (!e.emulates()) return;
  const LinkSpec& nics = e.cluster.inter;
  const Transport& transport = e.cluster.transport;
  const auto refuse_if = [&](bool given, const char* pointer) {
    if (given)
      throw ConfigError(pointer,
                        "applies only to the simulated world; emulated networks do not have it");
  };
  refuse_if(nics.shaping.enabled(), "/cluster/inter/shaping");
  refuse_if(!nics.profile.empty(), "/cluster/inter/profile");
  refuse_if(nics.background.load > 0, "/cluster/inter/background");
  refuse_if(e.cluster.accelerator.overlap_slowdown > 1, "/cluster/accelerator/overlap_slowdown");
  refuse_if(transport.efficiency.reduces_any(), "/cluster/transport/efficiency");
  refuse_if(transport.channels > 1, "/cluster/transport/channels");
  // In worlds whose ranks are processes, MPI itself runs this protocol.
  refuse_if(transport.protocol == Transport::Protocol::open_mpi && !e.world().processes,
            "/cluster/transport/protocol");
}

/// Neither SimGrid's model of TCP nor the fidelity "fluid" supports links that change with time.
/// "fluid" also lacks some properties of transports and accelerators.
void check_network_model(const Experiment& e) {
  if (!e.world().simulated) return;
  if (e.runtime.at("fidelity") == "fluid" && !can_couple(e.cluster))
    throw ConfigError(
        "/runtime/fidelity",
        "expected \"message\" or \"auto\" if links have a profile, background or partitions, the "
        "accelerator has an overlap_slowdown, or the transport has slices or a protocol other than "
        "\"eager\"");
  if (e.runtime.at("network_model") != "tcp") return;
  const LinkSpec& nics = e.cluster.inter;
  if (nics.shaping.enabled() || !nics.profile.empty() || nics.background.load > 0 ||
      has_partitions(e.cluster))
    throw ConfigError(
        "/runtime/network_model",
        "expected \"alpha_beta\" if links have shaping, a profile, background or partitions");
}

/// Steps repeat exactly only in simulated time, and a workload that learns has to make all its
/// steps.
void check_steady(const Experiment& e, const WorkloadFactory& workload) {
  if (!e.until_steady) return;
  if (!e.world().simulated)
    throw ConfigError("/until_steady", fmt::format("no two steps of the world \"{}\" take the same "
                                                   "time; expected false, or the world \"sim\"",
                                                   e.world().name));
  if (workload.has_values())
    throw ConfigError(
        "/until_steady",
        "a workload that learns must make all its steps; expected false, or a profile as "
        "workload");
}

/// Every workload that learns has a loss, but only a classifier has an accuracy. A run can end at
/// only one of them.
void check_target_of_workload(const Experiment& e, const WorkloadFactory& workload) {
  if (e.target_accuracy && e.target_loss)
    throw ConfigError("/target_loss",
                      "a run ends at one target only; expected target_accuracy or target_loss");
  if (e.target_loss && !workload.learns())
    throw ConfigError(
        "/target_loss",
        "only a workload that learns has a loss on held-out data; remove it, or use a "
        "workload that learns, such as fashion_mnist or quadratic");
  if (!e.target_accuracy || (workload.learns() && workload.has_accuracy())) return;
  if (!workload.learns())
    throw ConfigError("/target_accuracy",
                      "only a classifier has an accuracy; remove it, or use a workload that learns "
                      "from samples, such as fashion_mnist");
  throw ConfigError(
      "/target_accuracy",
      fmt::format("only a classifier has an accuracy; expected target_loss in its place, because "
                  "{} has a loss on held-out data, or a classifier, such as fashion_mnist",
                  e.workload.at("name").get<std::string>()));
}

/// On GPUs all ranks must issue operations in the same order, but the ranks of asynchronous
/// algorithms reach an evaluation in any order. If ranks are processes, all of them synchronize at
/// an evaluated step, so that an algorithm in which a rank may wait for a later step of another
/// rank would hang.
void check_target(const Experiment& e, const WorkloadFactory& workload) {
  const std::optional<TargetLevel> target = e.target();
  if (!target) return;
  check_target_of_workload(e, workload);
  const std::string pointer = child("", target->option());
  if (e.world().one_order && !e.synchronous())
    throw ConfigError(pointer,
                      fmt::format("in the world \"{}\" only synchronous algorithms support it; "
                                  "remove it, or use another world or algorithm",
                                  e.world().name));
  for (const UsedAlgorithm& used : used_algorithms(e.algorithm, "/algorithm"))
    if (e.world().processes && used.entry->waits_across_steps)
      throw ConfigError(
          pointer,
          fmt::format(
              "in the world \"{}\" all workers synchronise at evaluations, but workers of {} may "
              "wait for each other's later steps; remove it, or use another world or algorithm",
              e.world().name, used.entry->name));
}

void check_gradient_noise(const Experiment& e, const WorkloadFactory& workload) {
  if (e.gradient_noise && !workload.learns())
    throw ConfigError("/gradient_noise",
                      "only a workload that learns has gradients with values; remove it, or use a "
                      "workload that learns, such as fashion_mnist or quadratic");
}

/// Checks that the world is available in the process that makes the run.
void check_world(const World& world, bool in_this_process) {
  if (const std::string why =
          in_this_process || !world.processes ? world.unavailable : mpi_absent_reason();
      !why.empty())
    throw ConfigError("/runtime",
                      fmt::format("the world \"{}\" is not available: {}", world.name, why));
}

/// Checks that the algorithm with its options, the workload and measurements accept this number of
/// workers.
void check_workers(const Experiment& e, const WorkloadFactory& workload) {
  const AlgorithmEntry& entry = e.algorithm_entry();
  entry.check(e.algorithm, e.cluster.layout(), "/algorithm");
  const int workers = entry.workers(e.algorithm, e.cluster.layout()).count();
  workload.check_ranks(workers);
  if (e.gradient_noise && workers == 1)
    throw ConfigError("/gradient_noise",
                      "compares the gradients of workers, and there is one worker; "
                      "remove it, or use more workers");
}

/// When a node leaves or joins, a new generation begins from a checkpoint. All of them must be able
/// to train.
void check_resizing(const Experiment& e, const WorkloadFactory& workload) {
  const Failures& failures = e.cluster.failures;
  const std::vector<std::int64_t> counts = node_counts(failures, e.cluster.nodes);
  if (counts.size() == 1) return;
  check_node_changes(failures, e.cluster.nodes, "/cluster/failures");
  if (!e.checkpoint)
    throw ConfigError("/checkpoint",
                      "nodes leave or join, and training goes on from a checkpoint then; expected "
                      "{\"every\": ...}, in steps");
  for (const std::int64_t nodes : std::set<std::int64_t>(counts.begin() + 1, counts.end())) {
    try {
      check_workers(with_nodes(e, nodes), workload);
    } catch (const ConfigError& error) {
      throw ConfigError("/cluster/failures",
                        fmt::format("the job has {} nodes when nodes have left or joined, and {}",
                                    nodes, error.what()));
    }
  }
}

/// Where workers carry on, the description has all workers that will ever be there.
void check_joins(const Experiment& e) {
  for (const Failure& event : e.cluster.failures.events)
    if (event.node >= e.cluster.nodes)
      throw ConfigError("/cluster/failures",
                        fmt::format("workers carry on, and a node joins that is none of the {} "
                                    "nodes; expected more /cluster/nodes, or a node below {}",
                                    e.cluster.nodes, e.cluster.nodes));
}

/// How long a heartbeat waits behind other bytes follows from what connections have in the network.
void check_heartbeats(const Experiment& e) {
  const auto& heartbeats = e.cluster.failures.heartbeats;
  if (!heartbeats) return;
  const auto refuse = [](const std::string& why) {
    throw ConfigError("/cluster/failures/heartbeats", why);
  };
  if (!e.world().simulated)
    refuse(
        fmt::format("only the simulated world has heartbeats; expected none of them, or the world "
                    "\"sim\" in place of \"{}\"",
                    e.world().name));
  if (heartbeats->lane == Heartbeats::Lane::own) return;
  const auto need = [&](bool given, const char* what) {
    if (!given)
      refuse(
          fmt::format("on a shared lane they wait behind the bytes that connections have in the "
                      "network; expected {}, or the lane \"own\"",
                      what));
  };
  const LinkSpec& nics = e.cluster.inter;
  need(e.cluster.transport.has_connections(), "the transport protocol \"eager\" or \"open_mpi\"");
  need(e.cluster.transport.tcp.has_window(), "windows (/cluster/transport/tcp), such as \"linux\"");
  need(e.runtime.at("fidelity") == "message", "the fidelity \"message\"");
  need(e.runtime.at("network_model") == "alpha_beta", "the network model \"alpha_beta\"");
  need(nics.background.load == 0 && !nics.shaping.enabled(),
       "links without background traffic and token buckets");
}

/// In real time processes really fail, which needs a supervisor that starts them again.
void check_failing(const Experiment& e, const WorkloadFactory& workload, bool supervised) {
  if (e.cluster.failures.none()) return;
  const auto refuse = [](const std::string& why) { throw ConfigError("/cluster/failures", why); };
  const bool carries_on = e.carries_on();
  if (!e.world().simulated && !supervised && !carries_on)
    refuse(
        fmt::format("trigram launch makes the processes of the world \"{}\" fail; expected "
                    "that command, or the world \"sim\"",
                    e.world().name));
  if (e.until_steady)
    refuse("a run with failures must make all its steps; expected until_steady false beside it");
  if (carries_on) check_joins(e);
  else check_resizing(e, workload);
  if (!has_partitions(e.cluster)) return;
  if (!e.world().simulated)
    refuse(
        fmt::format("only the simulated world has partitions; expected none of them, or the world "
                    "\"sim\" in place of \"{}\"",
                    e.world().name));
  if (!e.cluster.transport.has_connections())
    refuse(
        "partitions interrupt connections, which the transport protocol \"rendezvous\" does not "
        "have; expected \"eager\" or \"open_mpi\"");
}

}  // namespace

void check_feasible(const Experiment& e, const WorkloadFactory& workload, bool in_this_process,
                    bool supervised) {
  Mistakes mistakes;
  mistakes.passes([&] { check_world(e.world(), in_this_process); });
  mistakes.passes([&] { check_workers(e, workload); });
  mistakes.passes([&] { check_algorithms(e, workload); });
  mistakes.passes([&] { check_tensors(e, workload); });
  mistakes.passes([&] { check_emulated(e); });
  mistakes.passes([&] { check_network_model(e); });
  mistakes.passes([&] { check_steady(e, workload); });
  mistakes.passes([&] { check_target(e, workload); });
  mistakes.passes([&] { check_gradient_noise(e, workload); });
  mistakes.passes([&] { check_failing(e, workload, supervised); });
  mistakes.passes([&] { check_heartbeats(e); });
  mistakes.raise();
  check_autotune(e);
  check_checkpoint(e);
}

}  // namespace trigram
