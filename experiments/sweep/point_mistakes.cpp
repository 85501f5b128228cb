#include "experiments/sweep/point_mistakes.h"

#include <fmt/format.h>

#include <set>

namespace trigram {
namespace {

constexpr const char* kObjective = "/tune/objective";
/// The keys of a summary that have values only if a model is trained.
const std::set<std::string> kOfModels = {"loss", "eval_loss", "accuracy", "consensus_distance"};

/// True if `pointer` is `option` or an option inside it.
bool is_within(const std::string& pointer, const std::string& option) {
  return (pointer + "/").starts_with(option + "/");
}

/// The option of a point to which a mistake belongs; empty if there is none.
std::string option_at(const Mistake& mistake, const Json& point) {
  for (const auto& [option, value] : point.items())
    if (is_within(mistake.pointer, option) || mistake.pointer == child("/zip/0", option))
      return option;
  return "";
}

}  // namespace

ConfigError reported_at_tune(const ConfigError& error, const Json& point,
                             const Objective& objective) {
  std::vector<Mistake> mistakes = error.mistakes();
  for (Mistake& mistake : mistakes) {
    if (const std::string option = option_at(mistake, point); !option.empty())
      mistake.pointer = child("/tune/space", option);
    else if (objective.target && mistake.pointer == child("", objective.target->option()))
      mistake.pointer = child(child(kObjective, "time_to"), objective.target->name());
  }
  return ConfigError(std::move(mistakes));
}

bool leave_out_idle(Json& point, const ConfigError& error) {
  bool found = false;
  for (const Mistake& mistake : error.mistakes())
    if (mistake.kind == Mistake::Kind::without_effect)
      if (const std::string option = option_at(mistake, point); !option.empty())
        found = point.erase(option) > 0 || found;
  return found;
}

void check_weighted_keys(const Objective& objective, const PlannedRun& run) {
  const bool learns = run.workload->learns();
  Mistakes mistakes;
  for (const auto& [key, weight] : objective.weights) {
    if (!kOfModels.contains(key)) continue;
    if (learns && (key != "accuracy" || run.workload->has_accuracy())) continue;
    mistakes.add(ConfigError(
        child(child(kObjective, "weights"), key),
        fmt::format("is null in every run, because {} has no {}; remove the weight, or use {}",
                    component_name(run.experiment.workload, "/workload"), key,
                    learns ? "a classifier, such as fashion_mnist"
                           : "a workload that learns, such as fashion_mnist")));
  }
  mistakes.raise();
}

}  // namespace trigram
