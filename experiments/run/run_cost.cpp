#include "experiments/run/run_cost.h"

#include "experiments/run/step_record.h"
#include "netmodels/prices.h"

namespace trigram {
namespace {

constexpr double kMillionSamples = 1e6;

Json value(const std::optional<double>& amount, double divisor = 1) {
  return amount ? finite(*amount / divisor) : Json();
}

double number_or_zero(const Json& object, const char* key) {
  const Json found = object.value(key, Json());
  return found.is_number() ? found.get<double>() : 0;
}

}  // namespace

Json run_cost(const Cluster& cluster, const Json& summary, int trainers) {
  const Json& rates = summary.at("rates");
  const double busy_share =
      number_or_zero(summary, "compute_utilisation") * trainers / cluster.ranks();
  const auto spent_in = [&](double time_s, const Json& traffic) {
    return spending(cluster, {time_s, busy_share, number_or_zero(traffic, "egress_usd")});
  };
  const double steps = number_or_zero(rates, "steps_made"),
               rated_s = number_or_zero(summary, "step_s") * number_or_zero(rates, "steps");
  const Spending rated = spent_in(rated_s, rates),
                 whole = spent_in(number_or_zero(summary, "time_s"), summary);
  if (!rated.usd && !rated.kwh) return nullptr;
  const double millions = number_or_zero(summary, "samples_per_s") * rated_s / kMillionSamples;
  const bool reached = summary.at("target").is_object() && summary["target"]["time_s"].is_number();
  Json cost = {{"usd_per_step", value(rated.usd, steps)},
               {"kwh_per_step", value(rated.kwh, steps)},
               {"usd_per_million_samples", value(rated.usd, millions)},
               {"kwh_per_million_samples", value(rated.kwh, millions)},
               {"usd", value(whole.usd)},
               {"kwh", value(whole.kwh)},
               {"egress_usd", whole.usd ? summary.at("egress_usd") : Json()}};
  cost["usd_to_target"] = reached ? cost["usd"] : Json();  // totals end at the target
  cost["kwh_to_target"] = reached ? cost["kwh"] : Json();
  return cost;
}

void forget_totals(Json& cost) {
  if (!cost.is_object()) return;
  for (const char* key : {"usd", "kwh", "egress_usd", "usd_to_target", "kwh_to_target"})
    cost[key] = nullptr;
}

}  // namespace trigram
