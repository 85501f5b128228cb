#include "experiments/calibrate/calibration.h"

#include <algorithm>

#include "core/metering/meter.h"
#include "experiments/calibrate/device_probes.h"

namespace trigram {
namespace {

constexpr std::size_t kSides[] = {32, 64, 128, 256};

/// One of the benchmarks of collectives, as a probe without a fit.
BenchEntry bench(const std::string& operation) {
  const auto& all = collective_benches();
  return *std::find_if(all.begin(), all.end(),
                       [&](const BenchEntry& e) { return e.operation == operation; });
}

Probe ladder(const Context& ctx, const BenchEntry& entry, const CalibrationOptions& options,
             const std::string& name) {
  Probe probe{name, {}, {}};
  measure(ctx, {entry}, options.ladder, false, [&](const Measured& m) {
    probe.samples.push_back({static_cast<double>(m.bytes), m.seconds});
  });
  return probe;
}

Probe gemm(const Context& ctx, const Ladder& ladder) {
  Probe probe{"gemm", {}, {}, "FLOP"};
  for (const std::size_t side : kSides)
    probe.samples.push_back({gemm_flops(side), gemm_seconds(ctx, side, ladder)});
  return probe;
}

/// Everything that is measured, as one rank sees it.
Calibration probe_all(const Context& ctx, const CalibrationOptions& options) {
  Calibration c;
  c.probes.push_back(ladder(ctx, stream_probe(), options, "axpby"));
  c.probes.push_back(gemm(ctx, options.ladder));
  if (ctx.size() > 1)
    for (const char* name : {"pingpong", "sendrecv", "allreduce"})
      c.probes.push_back(ladder(ctx, bench(name), options, name));
  if (options.workload)
    c.step = probe_step(ctx, *options.workload, options.steps, options.ladder.quantile);
  return c;
}

LinkSpec link_of(const LineFit& fit) { return {1 / fit.seconds_per_unit, fit.overhead_s}; }

void describe(Calibration& c, int ranks) {
  c.cluster.nodes = ranks;
  c.cluster.accelerator.name = "calibrated";
  for (Probe& probe : c.probes) {
    if (probe.name == "allreduce") continue;
    probe.fit = fit_line(probe.samples);
    if (probe.name == "sendrecv") {
      c.cluster.inter = link_of(probe.fit);
      c.cluster.intra = {c.cluster.inter.bandwidth_Bps, c.cluster.inter.latency_s};
    }
    if (probe.name == "axpby") {
      c.cluster.accelerator.memory_Bps = 3 / probe.fit.seconds_per_unit;
      c.cluster.accelerator.launch_overhead_s = probe.fit.overhead_s;
    }
    if (probe.name == "gemm") c.cluster.accelerator.flops_per_s = 1 / probe.fit.seconds_per_unit;
  }
  if (c.step) c.cluster.accelerator.flops_per_s = flop_rate(*c.step, c.cluster.accelerator);
}

}  // namespace

Calibration calibrate(Runtime& runtime, int ranks, const CalibrationOptions& options) {
  Calibration result;
  runtime.launch(Layout(ranks, 1), [&](const Context& raw) {
    const auto meter = instrument(raw, {});
    Calibration mine = probe_all(meter->context(), options);
    if (raw.world_rank != 0) return;
    describe(mine, ranks);
    result = std::move(mine);
  });
  return result;
}

double ring_seconds(const Cluster& cluster, double bytes) {
  const double P = cluster.ranks(), part = bytes / P;
  const double steps_s =
      2 * (P - 1) * (cluster.inter.latency_s + part / cluster.inter.bandwidth_Bps);
  return steps_s + (P - 1) * cluster.accelerator.seconds(
                                 {3 * part, 3 * part / sizeof(float), Cost::Kind::reduction});
}

}  // namespace trigram
