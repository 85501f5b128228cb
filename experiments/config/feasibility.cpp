#include "experiments/config/feasibility.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/optimizers/registry.h"
#include "netmodels/coupled_rounds.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

std::vector<UsedAlgorithm> algorithms_of(const Experiment& e) {
  return used_algorithms(e.algorithm, "/algorithm");
}

/// `is_first` is true if no steps of another algorithm come before.
void check_moment(const Experiment& e, const UsedAlgorithm& used, bool is_first) {
  const AlgorithmEntry& algorithm = *used.entry;
  if (!algorithm.exchanges_moment) return;
  const OptimizerEntry& optimizer =
      find_component(optimizers(), "optimizer", e.optimizer, "/optimizer");
  if (!optimizer.has_moment(e.optimizer))
    throw ConfigError(
        "/optimizer",
        fmt::format("{} exchanges the optimizer's moment, which {} does not have with "
                    "these options; expected adam, adamw or sgd with momentum",
                    algorithm.name, optimizer.name));
  if (is_first && optimizer.has_variance && algorithm.traits(used.resolved).warmup_steps == 0)
    throw ConfigError(used.pointer + "/warmup_steps",
                      fmt::format("{} freezes the variance of {} after the warm-up, and the "
                                  "variance starts at 0; expected at least 1",
                                  algorithm.name, optimizer.name));
}

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

std::optional<AllreduceAlgorithm> allreduce_of(const UsedAlgorithm& used) {
  return used.entry->traits(used.resolved).allreduce;
}

/// In a world without its own collectives, the name "native" would stand for another algorithm.
void check_native(const Experiment& e, const UsedAlgorithm& used) {
  if (e.world().native || allreduce_of(used) != AllreduceAlgorithm::native) return;
  std::vector<std::string> suitable_worlds;
  for (const World& world : worlds())
    if (world.native) suitable_worlds.push_back(world.name);
  throw ConfigError(
      used.pointer + "/allreduce",
      fmt::format(
          "the world \"{}\" has no collectives of its own; expected ring, recursive_doubling, "
          "rabenseifner, double_tree or nccl, or a world with native collectives: {}",
          e.world().name, fmt::join(suitable_worlds, ", ")));
}

/// A double tree has at least one edge, so it needs at least two ranks.
void check_tree(const Experiment& e, const UsedAlgorithm& used) {
  if (e.cluster.ranks() > 1 || allreduce_of(used) != AllreduceAlgorithm::double_tree) return;
  throw ConfigError(used.pointer + "/allreduce",
                    "\"double_tree\" needs at least two ranks, and this cluster has one; expected "
                    "another allreduce, such as ring or nccl, or more nodes or workers_per_node");
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
        "expected \"message\" or \"auto\" if links have a profile or background, the accelerator "
        "has an overlap_slowdown, or the transport has slices or a protocol other than \"eager\"");
  if (e.runtime.at("network_model") != "tcp") return;
  const LinkSpec& nics = e.cluster.inter;
  if (nics.shaping.enabled() || !nics.profile.empty() || nics.background.load > 0)
    throw ConfigError("/runtime/network_model",
                      "expected \"alpha_beta\" if links have shaping, a profile or background");
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
  for (const UsedAlgorithm& used : algorithms_of(e))
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

void check_values(const AlgorithmEntry& entry, const WorkloadFactory& workload) {
  if (!workload.has_values() && entry.needs_values)
    throw ConfigError("/workload",
                      fmt::format("\"{}\" makes decisions based on the values of tensors; expected "
                                  "a workload with values, such as fashion_mnist",
                                  entry.name));
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

/// Two kinds of accumulation in one step would multiply.
void check_micro_batches(const Experiment& e, const UsedAlgorithm& used) {
  if (e.micro_batches > 1 && used.entry->accumulates_by)
    throw ConfigError("/micro_batches",
                      fmt::format("{} accumulates gradients by itself; expected {}/{} in place of "
                                  "this option",
                                  used.entry->name, used.pointer, used.entry->accumulates_by));
}

/// Workers that do not take part in a step do not count it: each follows the schedule of its own
/// learning rate. And flows are computed from the times of all ranks.
void check_idle(const Experiment& e, const UsedAlgorithm& used) {
  if (!used.entry->traits(used.resolved).idles) return;
  if (e.runtime.value("fidelity", "") == "fluid")
    throw ConfigError("/runtime/fidelity",
                      fmt::format("workers of {} leave out steps, which flows do not support; "
                                  "expected \"auto\" or \"message\"",
                                  used.entry->name));
  const std::string why = fmt::format(
      "workers of {} count only the steps in which they are drawn, so their learning "
      "rates would differ; remove it, or draw all workers",
      used.entry->name);
  if (e.optimizer.at("decay") != "none") throw ConfigError("/optimizer/decay", why);
  if (e.optimizer.at("warmup_steps") != 0) throw ConfigError("/optimizer/warmup_steps", why);
}

/// Algorithms that exchange gradients keep models equal only if workers have equal states of the
/// optimizer. A switch makes models equal, but not these states.
void check_states(const Experiment& e) {
  const OptimizerEntry& optimizer =
      find_component(optimizers(), "optimizer", e.optimizer, "/optimizer");
  if (!optimizer.has_state(e.optimizer)) return;
  const std::vector<UsedAlgorithm> all = algorithms_of(e);
  const AlgorithmEntry* alone = nullptr;
  for (const UsedAlgorithm& used : all) {
    if (alone && !used.entry->own_states)
      throw ConfigError(
          used.pointer,
          fmt::format("{} needs workers with the same state of the optimizer, but after {} each "
                      "has its own; expected sgd without momentum, or the other order of stages",
                      used.entry->name, alone->name));
    if (used.entry->own_states) alone = used.entry;
  }
}

/// The last stage has at least one step.
void check_stages(const Experiment& e) {
  const std::size_t count = algorithms_of(e).size();
  if (count < 2) return;
  const Json& until = e.algorithm.at("stages").at(count - 2).at("until");
  if (until >= e.steps)
    throw ConfigError(fmt::format("/algorithm/stages/{}/until", count - 2),
                      fmt::format("expected less than the {} steps of the run, not {}, so that the "
                                  "last stage has steps",
                                  e.steps, until.get<long>()));
}

/// The checks of an algorithm that do not depend on other stages of the run, but on whether it is
/// the first.
void check_used(const Experiment& e, const WorkloadFactory& workload, const UsedAlgorithm& used,
                bool is_first) {
  Mistakes mistakes;
  mistakes.passes([&] { check_moment(e, used, is_first); });
  mistakes.passes([&] { check_native(e, used); });
  mistakes.passes([&] { check_tree(e, used); });
  mistakes.passes([&] { check_values(*used.entry, workload); });
  mistakes.passes([&] { check_micro_batches(e, used); });
  mistakes.passes([&] { check_idle(e, used); });
  mistakes.raise();
}

}  // namespace

void check_feasible(const Experiment& e, const WorkloadFactory& workload, bool in_this_process) {
  Mistakes mistakes;
  mistakes.passes([&] { check_world(e.world(), in_this_process); });
  mistakes.passes([&] { check_workers(e, workload); });
  mistakes.passes([&] { check_stages(e); });
  mistakes.passes([&] { check_states(e); });
  const std::vector<UsedAlgorithm> all = algorithms_of(e);
  for (const UsedAlgorithm& used : all)
    mistakes.passes([&] { check_used(e, workload, used, &used == &all.front()); });
  mistakes.passes([&] { check_tensors(e, workload); });
  mistakes.passes([&] { check_emulated(e); });
  mistakes.passes([&] { check_network_model(e); });
  mistakes.passes([&] { check_steady(e, workload); });
  mistakes.passes([&] { check_target(e, workload); });
  mistakes.passes([&] { check_gradient_noise(e, workload); });
  mistakes.raise();
  check_autotune(e);
}

}  // namespace trigram
