#include "experiments/config/machine_match.h"

#include <fmt/format.h>

namespace trigram {
namespace {

constexpr const char* kUnknown = "none";  // what profiles say that are of no machine

/// Why times are not scaled although they are to be; or how to have them scaled.
std::string remedy(const Json& workload, const LayerTimes& times, const AcceleratorRates& cluster) {
  const std::string pointer = adaptation_pointer(workload);
  const Json options = workload.value("priced_with", workload);
  const std::string measured =
      fmt::format("give {}/step_time, a step's computation as measured there", pointer);
  if (same_accelerator(times.stand_for, cluster))
    return fmt::format(
        "its rates are of another form or precision of it, and times are not scaled "
        "to them; {}",
        measured);
  if (!times.measured_on.known())
    return fmt::format(
        "they cannot be scaled, as the profile does not say the flops and "
        "memory_bandwidth of {}; {}",
        times.measured_on.name, measured);
  if (!times.has_flops)
    return fmt::format("they cannot be scaled, as the profile does not say its layers' FLOPs; {}",
                       measured);
  if (!cluster.known())
    return fmt::format(
        "they cannot be scaled, as the cluster does not say flops and "
        "memory_bandwidth of {} in /cluster/accelerator; say them, or {}",
        cluster.name, measured);
  return options.contains("accelerator")
             ? measured
             : fmt::format("{}, or set {}/accelerator to \"cluster\", which scales them", measured,
                           pointer);
}

}  // namespace

AcceleratorRates rates_of(const Accelerator& accelerator) {
  const Accelerator defaults;
  AcceleratorRates rates{accelerator.name, accelerator.flops_per_s, accelerator.memory_Bps};
  if (accelerator.name == defaults.name) return rates;
  if (rates.flops_per_s == defaults.flops_per_s) rates.flops_per_s = 0;
  if (rates.memory_Bps == defaults.memory_Bps) rates.memory_Bps = 0;
  return rates;
}

std::string adaptation_pointer(const Json& workload) {
  return workload.contains("priced_as") ? "/workload/priced_with" : "/workload";
}

void bind_accelerator(Json& workload, const Accelerator& accelerator) {
  Json& options = workload.contains("priced_with") ? workload["priced_with"] : workload;
  const AcceleratorRates rates = rates_of(accelerator);
  if (options.value("accelerator", Json()) != "cluster" || !rates.known()) return;
  options["accelerator"] = {
      {"name", rates.name},
      {"flops", format_quantity(rates.flops_per_s, Dimension::flop_rate)},
      {"memory_bandwidth", format_quantity(rates.memory_Bps, Dimension::bandwidth)}};
}

std::vector<std::string> machine_warnings(const Experiment& experiment,
                                          const WorkloadFactory& workload) {
  const auto times = workload.layer_times();
  const AcceleratorRates cluster = rates_of(experiment.cluster.accelerator);
  if (!times || times->stand_for.name.empty() || times->stand_for.name == kUnknown ||
      (same_accelerator(times->stand_for, cluster) && same_rates(times->stand_for, cluster)))
    return {};
  return {
      fmt::format("layer times of {} are those of {}, batch {}, and the cluster's accelerator is "
                  "{}: what computation takes there is not known; {}",
                  times->profile, text_of(times->stand_for), times->batch, text_of(cluster),
                  remedy(experiment.workload, *times, cluster))};
}

}  // namespace trigram
