#include "experiments/calibrate/calibration_table.h"

#include <fmt/format.h>

#include <utility>

namespace trigram {
namespace {

std::string row(const std::string& name, double size, const std::string& unit, double measured_s,
                double fitted_s) {
  return fmt::format("{:>10} {:>14.0f} {:>5} {:>14.2f} {:>14.2f} {:>9.1f} %\n", name, size, unit,
                     1e6 * measured_s, 1e6 * fitted_s, 100 * (fitted_s / measured_s - 1));
}

double fitted(const Calibration& c, const Probe& probe, const Sample& sample) {
  return probe.name == "allreduce" ? ring_seconds(c.cluster, sample.size)
                                   : probe.fit.seconds(sample.size);
}

std::string dumped(const Cluster& cluster, const char* object, const char* key) {
  return cluster_fields().dump(cluster)[object][key].get<std::string>();
}

constexpr std::pair<const char*, const char*> kAcceleratorRows[] = {
    {"launch overhead", "launch_overhead"},         {"memory bandwidth", "memory_bandwidth"},
    {"reduction bandwidth", "reduction_bandwidth"}, {"copy bandwidth", "copy_bandwidth"},
    {"codec bandwidth", "codec_bandwidth"},         {"flops", "flops"}};

}  // namespace

std::string calibration_table(const Calibration& c) {
  std::string text = fmt::format("{:>10} {:>14} {:>5} {:>14} {:>14} {:>11}\n", "probe", "size", "",
                                 "measured (us)", "fitted (us)", "residual");
  for (const Probe& probe : c.probes)
    for (const Sample& sample : probe.samples)
      text += row(probe.name, sample.size, probe.unit, sample.seconds, fitted(c, probe, sample));
  if (c.step)
    text += fmt::format("a training step without communication takes {:.4g} ms\n",
                        1e3 * c.step->seconds);
  const Cluster& cluster = c.cluster;
  text += "\n";
  if (cluster.ranks() > 1)
    for (const char* key : {"latency", "bandwidth"})
      text += fmt::format("{:<20} {}\n", key, dumped(cluster, "inter", key));
  for (const auto& [title, key] : kAcceleratorRows)
    text += fmt::format("{:<20} {}\n", title, dumped(cluster, "accelerator", key));
  return text;
}

std::string description_text(const Calibration& c, const std::string& origin) {
  return fmt::format("// {}\n{}\n", origin, cluster_fields().dump(c.cluster).dump(2));
}

}  // namespace trigram
