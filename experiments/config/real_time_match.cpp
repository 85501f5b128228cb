#include "experiments/config/real_time_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace trigram {
namespace {

std::string emulation_remedy(const World& world) {
  if (!world.emulates) return "--world sim predicts times on it";
  if (world.processes)
    return "trigram emulate has the kernel emulate it (docs/emulation-kernel.md)";
  return "--set /runtime/shaping=cluster emulates it (docs/emulation.md)";
}

std::string network_warning(const Experiment& experiment, const Json& coordinates) {
  const World& world = experiment.world();
  if (experiment.emulates() || experiment.cluster.ranks() == 1) return "";
  std::string text = fmt::format(
      "network not emulated: the world {} moves messages {}, and times do not depend on the "
      "cluster's network; {}",
      world.name, world.processes ? "over the network of its machines" : "in memory",
      emulation_remedy(world));
  for (const auto& [pointer, value] : coordinates.items())
    if (pointer.starts_with("/cluster/inter") || pointer.starts_with("/cluster/intra"))
      text += fmt::format("; the sweep of {} has no effect", pointer);
  return text;
}

/// The warning about accelerator rates that the cluster sets to other values than the defaults.
std::string rates_warning(const Experiment& experiment) {
  static const FieldTable<Cluster> fields = cluster_fields();
  static const Json defaults = fields.dump(Cluster{}).at("accelerator");
  std::vector<std::string> changed;
  const Json accelerator = fields.dump(experiment.cluster).at("accelerator");
  for (const auto& [rate, value] : accelerator.items())
    if (rate != "name" && value != defaults.value(rate, Json())) changed.push_back(rate);
  if (changed.empty()) return "";
  return fmt::format(
      "accelerator not emulated: in the world {} codecs, copies and sums take the time of {}, "
      "which does not depend on {} in /cluster/accelerator; --world sim predicts times with {}",
      experiment.world().name, experiment.world().processes ? "its machines" : "this machine",
      fmt::join(changed, ", "), changed.size() == 1 ? "it" : "them");
}

/// True if tensors are sent with their priced size. Worlds without the option `padded` always do
/// this.
bool sends_priced_sizes(const Experiment& experiment) {
  return experiment.cluster.ranks() == 1 || experiment.runtime.value("padded", true);
}

/// Warnings about the parts of a profile (computation time, message sizes) that the run leaves out.
std::vector<std::string> profile_warnings(const Experiment& experiment,
                                          const WorkloadFactory& workload) {
  const auto times = workload.layer_times();
  if (!times) return {};
  const bool priced = workload.priced_batch().has_value();
  const std::string source = priced ? "priced_as" : "profile";
  std::vector<std::string> warnings;
  if (!computes_layers(experiment))
    warnings.push_back(
        fmt::format("{}: this world does not spend the computation time of {}; --set "
                    "/runtime/modelled_compute=slept makes it sleep for that time",
                    source, times->profile));
  if (!sends_priced_sizes(experiment))
    warnings.push_back(
        fmt::format("{}: messages in this world do not have the sizes of {}; --set "
                    "/runtime/padded=true pads them",
                    source, times->profile));
  if (priced && !warnings.empty())
    warnings.back() += "; samples/s counts samples of the trained model";
  return warnings;
}

}  // namespace

bool computes_layers(const Experiment& experiment) {
  return experiment.runtime.value("modelled_compute", "slept") == "slept";
}

bool trains_the_priced_model(const Experiment& experiment) {
  return computes_layers(experiment) && sends_priced_sizes(experiment);
}

std::vector<std::string> real_time_warnings(const Experiment& experiment,
                                            const WorkloadFactory& workload,
                                            const Json& coordinates) {
  if (experiment.world().simulated) return {};
  std::vector<std::string> warnings = {network_warning(experiment, coordinates),
                                       rates_warning(experiment)};
  std::erase(warnings, "");
  std::ranges::move(profile_warnings(experiment, workload), std::back_inserter(warnings));
  return warnings;
}

}  // namespace trigram
