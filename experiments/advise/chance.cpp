#include "experiments/advise/chance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trigram {
namespace {

std::vector<std::string> drawn(const Cluster& cluster) {
  std::vector<std::string> found;
  if (cluster.run_times.kind != RunTimes::Shape::constant) found.emplace_back("run_times");
  const bool all_late = cluster.stragglers.count == cluster.ranks();
  if (cluster.stragglers.count > 0 && !all_late) found.emplace_back("stragglers");
  if (cluster.inter.background.load > 0) found.emplace_back("inter/background");
  return found;
}

bool has_unequal_paces(const Cluster& cluster) {
  return !cluster.slow_workers.empty() || cluster.worker_variation > 0 ||
         cluster.skew.largest_s > 0 || cluster.run_times.kind != RunTimes::Shape::constant ||
         cluster.stragglers.count > 0;
}

}  // namespace

std::vector<std::string> left_to_chance(const Experiment& e, bool to_accuracy) {
  std::vector<std::string> said;
  if (const std::vector<std::string> by_chance = drawn(e.cluster); !by_chance.empty())
    said.push_back(
        fmt::format("/cluster/{} {} drawn at random: each row is the mean over one draw of its "
                    "steps, and a longer run may have another mean and another order; --set "
                    "/steps=1000 makes runs longer",
                    fmt::join(by_chance, ", /cluster/"), by_chance.size() == 1 ? "is" : "are"));
  if (!to_accuracy) return said;
  said.push_back(
      fmt::format("times to an accuracy are of seed {} alone: other mini-batches take other times, "
                  "which may differ by more than the intervals; --set /seed=N draws others",
                  e.seed));
  if (has_unequal_paces(e.cluster))
    said.emplace_back(
        "workers have unequal paces, and a model is evaluated after as many steps of every worker "
        "as the slowest has made: what workers that do not wait learn in further steps does not "
        "count, so asynchronous candidates come out slower than they are");
  return said;
}

}  // namespace trigram
