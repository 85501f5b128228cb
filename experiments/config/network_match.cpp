#include "experiments/config/network_match.h"

#include <fmt/format.h>

namespace trigram {
namespace {

std::string remedy(const World& world) {
  if (!world.emulates) return "--world sim predicts times on it";
  if (world.processes) return "trigram emulate has the kernel emulate it (docs/emulation.md)";
  return "--set /runtime/shaping=cluster emulates it (docs/emulation.md)";
}

}  // namespace

std::string network_warning(const Experiment& experiment, const Json& coordinates) {
  const World& world = experiment.world();
  if (world.simulated || experiment.emulates() || experiment.cluster.ranks() == 1) return "";
  std::string text = fmt::format(
      "network not emulated: the world {} moves messages {}, and times do not depend on the "
      "cluster's network; {}",
      world.name, world.processes ? "over the network of its machines" : "in memory",
      remedy(world));
  for (const auto& [pointer, value] : coordinates.items())
    if (pointer.starts_with("/cluster/inter") || pointer.starts_with("/cluster/intra"))
      text += fmt::format("; the sweep of {} changes nothing", pointer);
  return text;
}

}  // namespace trigram
