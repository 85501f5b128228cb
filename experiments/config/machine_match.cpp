#include "experiments/config/machine_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/real_time_match.h"

namespace trigram {
namespace {

/// The name of the accelerator in profiles that were not measured on any machine.
constexpr const char* kNoMachine = "none";
constexpr const char* kDefault =
    "V100";  // the default rates of Accelerator are the rates of a V100
constexpr const char* kUnnamed = "unnamed";

/// True if the cluster gives neither the name of its accelerator nor its rates.
bool names_no_accelerator(const Accelerator& accelerator) {
  return accelerator.name.empty() && accelerator.flops_per_s == 0 && accelerator.memory_Bps == 0;
}

/// True if the options ask for layer times scaled to an accelerator. `bind_accelerator` may already
/// have replaced "cluster" by the cluster's rates.
bool asks_for_scaling(const Json& workload) {
  return workload.value("priced_with", workload).contains("accelerator");
}

/// True if times that were measured on `measured` hold for the cluster's accelerator. Names are
/// compared only if the cluster gives a name.
bool same_machine(const AcceleratorRates& measured, const AcceleratorRates& cluster) {
  return (cluster.name == kUnnamed || same_accelerator(measured, cluster)) &&
         same_rates(measured, cluster);
}

/// Names the rates of an accelerator that are not known.
std::string missing_of(const AcceleratorRates& rates) {
  if (rates.flops_per_s > 0) return "memory_bandwidth";
  return rates.memory_Bps > 0 ? "flops" : "flops and memory_bandwidth";
}

/// The V100 rates that replace unknown rates, as text.
std::string v100_rates(const AcceleratorRates& rates) {
  std::vector<std::string> taken;
  if (rates.flops_per_s == 0) taken.push_back(fmt::format("{:.3g} TFLOP/s", kV100FlopsPerS / 1e12));
  if (rates.memory_Bps == 0) taken.push_back(fmt::format("{:.4g} GB/s", kV100MemoryBps / 1e9));
  return fmt::format("{}", fmt::join(taken, ", "));
}

/// Says why the layer times cannot be scaled to the cluster's accelerator, or how to scale them.
std::string remedy(const Json& workload, const LayerTimes& times, const AcceleratorRates& cluster) {
  const std::string pointer = adaptation_pointer(workload);
  const Json options = workload.value("priced_with", workload);
  const std::string measured =
      fmt::format("give {}/step_time, a step's computation as measured there", pointer);
  if (same_accelerator(times.times_for, cluster))
    return fmt::format(
        "its rates are of another form or precision of it, and times are not scaled "
        "to them; {}",
        measured);
  if (!times.measured_on.known())
    return fmt::format("they cannot be scaled, as the profile does not say {} of {}; {}",
                       missing_of(times.measured_on), times.measured_on.name, measured);
  if (!times.has_flops)
    return fmt::format("they cannot be scaled, as the profile does not say its layers' FLOPs; {}",
                       measured);
  if (!cluster.known())
    return fmt::format(
        "they cannot be scaled, as the cluster does not say {0} of {1} in /cluster/accelerator; "
        "say {0}, or {2}",
        missing_of(cluster), cluster.name, measured);
  return options.contains("accelerator")
             ? measured
             : fmt::format("{}, or set {}/accelerator to \"cluster\", which scales them", measured,
                           pointer);
}

/// The warning for a profile that does not name its accelerator while the cluster does.
std::string unnamed_accelerator_warning(const Json& workload, const LayerTimes& times,
                                        const std::string& cluster) {
  return fmt::format(
      "the profile {} does not say what it was measured on, and the cluster's accelerator is {}: "
      "computation time on that accelerator is unknown; say its accelerator in the profile (\"{}\" "
      "for one of no machine), or give {}/step_time, a step's computation as measured there",
      times.profile, cluster, kNoMachine, adaptation_pointer(workload));
}

}  // namespace

AcceleratorRates rates_of(const Accelerator& accelerator) {
  AcceleratorRates rates{accelerator.name, accelerator.flops_per_s, accelerator.memory_Bps};
  if (rates.name.empty()) rates.name = names_no_accelerator(accelerator) ? kDefault : kUnnamed;
  if (!same_accelerator(rates, {kDefault})) return rates;
  return {rates.name, accelerator.arithmetic_per_s(), accelerator.traffic_Bps()};
}

std::string text_of(const Accelerator& accelerator) {
  return text_of(rates_of(accelerator)) +
         (names_no_accelerator(accelerator) ? ", as the cluster names none" : "");
}

std::string assumed_accelerator(const Experiment& experiment, const WorkloadFactory& workload) {
  const Accelerator& accelerator = experiment.cluster.accelerator;
  const bool simulated = experiment.world().simulated;
  if (names_no_accelerator(accelerator))
    return simulated || (workload.layer_times() && computes_layers(experiment))
               ? "accelerator " + text_of(accelerator)
               : "";
  const AcceleratorRates rates = rates_of(accelerator);
  if (!simulated || rates.known() || same_accelerator(rates, {kDefault})) return "";
  return fmt::format(
      "accelerator {0}: the cluster does not say {1} of it, so codecs, optimizers and sums take "
      "the time that they take with {1} of a V100 ({2}); give {1} in /cluster/accelerator",
      rates.name, missing_of(rates), v100_rates(rates));
}

std::string assumed_variant(const Experiment& experiment, const WorkloadFactory& workload) {
  const Accelerator& accelerator = experiment.cluster.accelerator;
  const auto times = workload.layer_times();
  const bool rates_given = accelerator.flops_per_s > 0 && accelerator.memory_Bps > 0;
  if (!times || times->measured_here || rates_given || !computes_layers(experiment)) return "";
  const AcceleratorRates rates = rates_of(accelerator);
  if (rates.name == times->times_for.name || !same_accelerator(times->times_for, rates)) return "";
  return fmt::format(
      "layer times of {} are those of {}; {} is taken to compute as fast, although forms of an "
      "accelerator may differ; give its flops and memory_bandwidth in /cluster/accelerator, or "
      "{}/step_time, a step's computation as measured there",
      times->profile, times->times_for.name, rates.name, adaptation_pointer(experiment.workload));
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
  if (!times || times->measured_here || times->times_for.name == kNoMachine ||
      !computes_layers(experiment))
    return {};
  const bool scaling = asks_for_scaling(experiment.workload);
  if (times->times_for.name.empty()) {
    if (experiment.cluster.accelerator.name.empty() && !scaling) return {};
    return {unnamed_accelerator_warning(experiment.workload, *times,
                                        text_of(experiment.cluster.accelerator))};
  }
  if (same_machine(times->times_for, cluster) &&
      !(scaling && cluster.name == kUnnamed && !cluster.known()))
    return {};
  return {fmt::format(
      "layer times of {} are those of {}, batch {}, and the cluster's accelerator is "
      "{}: computation time on that accelerator is unknown; {}",
      times->profile, text_of(times->times_for), times->batch,
      text_of(experiment.cluster.accelerator), remedy(experiment.workload, *times, cluster))};
}

}  // namespace trigram
