#include "experiments/sweep/objective_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/results/manifest.h"

namespace trigram {
namespace {

ObjectiveValue step_time(const Json& summary) {
  const Json steady = summary.value("steady", Json());
  const Json step_s = (steady.is_object() ? steady : summary).value("step_s", Json());
  if (!step_s.is_number()) return {std::nullopt, "has no step time"};
  return {step_s.get<double>(), "", step_s.get<double>()};
}

ObjectiveValue weighted_cost(const Objective& objective, const Json& summary) {
  double cost = 0;
  for (const auto& [key, weight] : objective.weights) {
    const Json value = summary.value(key, Json());
    if (!value.is_number()) return {std::nullopt, lacks(key)};
    cost += weight * value.get<double>();
  }
  if (!std::isfinite(cost)) return {std::nullopt, "has no finite cost"};
  return {cost, "", cost};
}

ObjectiveValue time_to_target(const Json& summary) {
  const Json target = summary.value("target", Json::object()),
             time_s = target.value("time_s", Json());
  if (!time_s.is_number()) return {std::nullopt, "did not reach the target"};
  return {time_s.get<double>(), "", target.at("after_s").get<double>()};
}

}  // namespace

ObjectiveValue objective_value(const Objective& objective, const Json& manifest) {
  const Compared compared = objective.target ? Compared::time_to_target : Compared::rates;
  if (std::string why = why_not_compared(manifest, compared); !why.empty())
    return {std::nullopt, std::move(why)};
  const Json& summary = manifest.at("summary");
  if (objective.target) return time_to_target(summary);
  return objective.is_step_time() ? step_time(summary) : weighted_cost(objective, summary);
}

std::string lacks(const std::string& key) { return fmt::format("has no {}", key); }

std::string cost_text(const Objective& objective, double value) {
  if (!objective.is_time()) return fmt::format("{:.6g}", value);
  if (value >= 1) return fmt::format("{:.4g} s", value);
  return value >= 1e-3 ? fmt::format("{:.4g} ms", value * 1e3)
                       : fmt::format("{:.4g} µs", value * 1e6);
}

void SamplesPerStep::add(const Json& summary) {
  const Json rate = summary.value("samples_per_s", Json()),
             step_s = summary.value("step_s", Json());
  if (!rate.is_number() || !step_s.is_number()) return;
  const double samples = rate.get<double>() * step_s.get<double>();
  least_ = most_ > 0 ? std::min(least_, samples) : samples;
  most_ = std::max(most_, samples);
}

std::string SamplesPerStep::warning() const {
  if (most_ <= 1.01 * least_) return "";
  return fmt::format(
      "steps of these points are of {:.4g} to {:.4g} samples, so that a shorter step may train "
      "less; "
      R"({{"weights": {{"samples_per_s": -1}}}} as the objective compares throughput)",
      least_, most_);
}

}  // namespace trigram
