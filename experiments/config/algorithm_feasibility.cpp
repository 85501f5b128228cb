#include "experiments/config/algorithm_feasibility.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algorithms/registry.h"
#include "core/optimizers/registry.h"

namespace trigram {
namespace {

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

void check_values(const UsedAlgorithm& used, const WorkloadFactory& workload) {
  if (!workload.has_values() && used.entry->traits(used.resolved).needs_values)
    throw ConfigError("/workload",
                      fmt::format("\"{}\" makes decisions based on the values of tensors; expected "
                                  "a workload with values, such as fashion_mnist",
                                  used.entry->name));
}

/// A fragment has at least one layer, and a layer is a bucket.
void check_layers(const UsedAlgorithm& used, const WorkloadFactory& workload) {
  const AlgorithmTraits traits = used.entry->traits(used.resolved);
  if (!traits.fragments) return;
  const auto layers = static_cast<long>(workload.buckets(traits.execution.buckets()));
  if (layers > 0 && *traits.fragments > layers)
    throw ConfigError(used.pointer + "/fragments",
                      fmt::format("a fragment has at least one layer; expected at most {}, the "
                                  "number of layers (buckets) of this workload, not {}",
                                  layers, *traits.fragments));
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
/// learning rate.
void check_idle(const Experiment& e, const UsedAlgorithm& used) {
  if (!used.entry->traits(used.resolved).idles) return;
  const std::string why = fmt::format(
      "workers of {} count only the steps in which they are drawn, so their learning "
      "rates would differ; remove it, or draw all workers",
      used.entry->name);
  if (e.optimizer.at("decay") != "none") throw ConfigError("/optimizer/decay", why);
  if (e.optimizer.at("warmup_steps") != 0) throw ConfigError("/optimizer/warmup_steps", why);
}

/// Algorithms that exchange gradients keep models equal only if workers have equal states of the
/// optimizer. A switch makes models equal, but not these states.
void check_states(const Experiment& e, const WorkloadFactory& workload) {
  const OptimizerEntry& optimizer =
      find_component(optimizers(), "optimizer", e.optimizer, "/optimizer");
  if (!workload.learns() || !optimizer.has_state(e.optimizer)) return;
  const std::vector<UsedAlgorithm> all = used_algorithms(e.algorithm, "/algorithm");
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
  const std::size_t count = used_algorithms(e.algorithm, "/algorithm").size();
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
  mistakes.passes([&] { check_values(used, workload); });
  mistakes.passes([&] { check_layers(used, workload); });
  mistakes.passes([&] { check_micro_batches(e, used); });
  mistakes.passes([&] { check_idle(e, used); });
  mistakes.raise();
}

}  // namespace

void check_algorithms(const Experiment& e, const WorkloadFactory& workload) {
  Mistakes mistakes;
  mistakes.passes([&] { check_stages(e); });
  mistakes.passes([&] { check_states(e, workload); });
  const std::vector<UsedAlgorithm> all = used_algorithms(e.algorithm, "/algorithm");
  for (const UsedAlgorithm& used : all)
    mistakes.passes([&] { check_used(e, workload, used, &used == &all.front()); });
  mistakes.raise();
}

}  // namespace trigram
