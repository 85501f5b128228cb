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

/// The result of the window probe, as a row of the table.
std::string window_row(const WindowProbe& w) {
  const auto row = [](const std::string& text) {
    return fmt::format("{:<20} {}\n", "window", text);
  };
  const double round_trip_ms = 1e3 * w.round_trip_s;
  if (!w.measurable())
    return row(
        w.round_trip_s < WindowProbe::kLeastRoundTrip_s
            ? fmt::format("not measured: the round trip of {:.4g} ms is too short to tell",
                          round_trip_ms)
            : "not measured: at least three ranks are needed, to compare one connection with two");
  const std::string rates = fmt::format(
      "one connection moves {:.4g} MB/s at a round trip of {:.4g} ms, {} together {:.4g} MB/s",
      1e-6 * w.one_Bps, round_trip_ms, w.connections, 1e-6 * w.together_Bps);
  const double nbytes = w.in_flight_bytes();
  return row((w.binds() ? fmt::format("{:.0f} B: ", nbytes)
                        : fmt::format("does not bind (at least {:.0f} B): ", nbytes)) +
             rates);
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
  if (c.window) text += window_row(*c.window);
  for (const auto& [title, key] : kAcceleratorRows)
    text += fmt::format("{:<20} {}\n", title, dumped(cluster, "accelerator", key));
  return text;
}

std::string description_text(const Calibration& c, const std::string& origin) {
  return fmt::format("// {}\n{}\n", origin, cluster_fields().dump(c.cluster).dump(2));
}

}  // namespace trigram
