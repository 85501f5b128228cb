#include "experiments/advise/target.h"

#include <fmt/format.h>

#include <limits>

#include "experiments/config/settings.h"
#include "experiments/results/manifest.h"
#include "experiments/run/shortfall.h"
#include "netmodels/prices.h"

namespace trigram {
namespace {

constexpr double kMillion = 1e6;

}  // namespace

Target Target::parse(const std::string& text) {
  if (text == "throughput") return {};
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const Json value = equals == std::string::npos ? Json() : parse_value(text.substr(equals + 1));
  const auto level = TargetLevel::named(name, value.is_number() ? value.get<double>() : 0);
  if (!level) {
    std::vector<std::string> names = TargetLevel::names();
    names.insert(names.begin(), "throughput");
    unknown_name("--target", "target", name, names);
  }
  if (!level->is_allowed())
    throw ConfigError("--target", fmt::format("expected {}, as in {}=0.8, not \"{}\"",
                                              level->allowed(), level->name(), text));
  return {level, {}};
}

std::string Target::text() const {
  return level ? fmt::format("{}={}", level->name(), level->level) : "throughput";
}

void check_budget(const Target& target, const Cluster& cluster) {
  if (!target.budget_usd || has_prices(cluster)) return;
  throw ConfigError("--budget",
                    "has no effect on a cluster without prices; expected price_per_node_hour in "
                    "its description, as by --set /cluster/price_per_node_hour=3");
}

Pace pace(const Json& summary) {
  Pace all{summary.at("step_s").get<double>(), summary.at("samples_per_s")};
  const Json& steady = summary.at("steady");
  if (!steady.is_object() || !all.samples_per_s.is_number()) return all;
  const double step_s = steady.at("step_s").get<double>();
  return {step_s, all.samples_per_s.get<double>() * all.step_s / step_s};
}

std::string why_not_compared(const Target& target, const Experiment& e, const Json& manifest) {
  if (!target.level) return why_not_compared(manifest, Compared::rates);
  const Json& summary = manifest.at("summary");
  if (summary.value("worker_done", Json()) == true && !summary.at("target").at("time_s").is_null())
    return fmt::format(
        "had a worker that made all of its {} steps before the {} was reached and then stopped "
        "learning",
        e.steps, target.level->name());
  return why_not_compared(manifest, Compared::time_to_target);
}

TimeToTarget never_reached() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {kInfinity, kInfinity};
}

std::optional<double> dollars(const Target& target, const Json& summary, double goodput) {
  const Json cost = summary.value("cost", Json());
  const char* const key = target.level ? "usd_to_target" : "usd_per_million_samples";
  if (!cost.is_object() || !cost.at(key).is_number()) return std::nullopt;
  return cost.at(key).get<double>() / goodput;
}

TimeToTarget cost(const Target& target, const Json& summary, double goodput) {
  if (target.level) {
    const Json& reached = summary.at("target");
    if (!reached.at("time_s").is_number()) return never_reached();
    return {reached.at("after_s").get<double>() / goodput,
            reached.at("time_s").get<double>() / goodput};
  }
  const std::optional<double> usd = dollars(target, summary, goodput);
  if (target.budget_usd && usd) return {*usd / kMillion, *usd / kMillion};
  const Json rate = pace(summary).samples_per_s;
  if (target.budget_usd || !rate.is_number()) return never_reached();
  const double time_s = 1 / (goodput * rate.get<double>());
  return {time_s, time_s};
}

}  // namespace trigram
