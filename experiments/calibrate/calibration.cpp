#include "experiments/calibrate/calibration.h"

#include <algorithm>
#include <cmath>

#include "core/codecs/minmax_uint8.h"
#include "core/metering/meter.h"
#include "experiments/calibrate/device_probes.h"

namespace trigram {
namespace {

constexpr std::size_t kSides[] = {32, 64, 128, 256};

// Seconds of a batch. It is longer than the time slice of a rank that shares a core, so that every
// batch sees the rank's average share of the core.
constexpr double kBatch_s = 0.05;
constexpr int kRunsPerBatch = 10;  // the requested number of iterations is divided by this

/// The same sizes, measured in batches, for operations that do not involve other ranks.
SizeRange in_batches(SizeRange sizes) {
  sizes.batch_s = kBatch_s;
  sizes.iterations = std::max(1, sizes.iterations / kRunsPerBatch);
  return sizes;
}

std::vector<Sample> measure_sizes(const Context& ctx, const BenchEntry& entry, SizeRange sizes,
                                  bool count_traffic) {
  sizes.check = false;
  std::vector<Sample> samples;
  measure(ctx, {entry}, sizes, false, [&](const Measurement& m) {
    const double traffic = count_traffic ? m.bus_factor : 1;
    samples.push_back({traffic * static_cast<double>(m.bytes), m.seconds});
  });
  return samples;
}

Probe gemm(const Context& ctx, const SizeRange& sizes) {
  Probe probe{"gemm", {}, {}, "FLOP"};
  for (const std::size_t side : kSides)
    probe.samples.push_back({gemm_flops(side), gemm_seconds(ctx, side, sizes)});
  return probe;
}

/// Makes all measurements from the point of view of this rank.
Calibration probe_all(const Context& ctx, const CalibrationOptions& options) {
  Calibration c;
  const SizeRange batches = in_batches(options.sizes);
  for (const BenchEntry& entry : device_probes())
    c.probes.push_back({entry.operation, measure_sizes(ctx, entry, batches, true), {}});
  c.probes.push_back(gemm(ctx, batches));
  if (ctx.size() > 1)
    for (const char* name : {"pingpong", "sendrecv", "allreduce"}) {
      const auto entry = std::ranges::find(collective_benches(), name, &BenchEntry::operation);
      c.probes.push_back({name, measure_sizes(ctx, *entry, options.sizes, false), {}});
    }
  if (ctx.size() > 1) c.window = probe_window(ctx, options.sizes);
  if (options.workload)
    c.step = probe_step(ctx, *options.workload, options.steps, options.sizes.quantile);
  return c;
}

LinkSpec link_of(const LineFit& fit) { return {1 / fit.seconds_per_unit, fit.overhead_s}; }

/// The accelerator rate that each device probe determines. Probes of the same rate must be next to
/// each other.
struct RateOfProbe {
  const char* probe;
  double Accelerator::*Bps;
  int launches = 1;  // kernel launches per call, as the simulator counts them
};
constexpr CodecLaunches kCoded = MinMaxUInt8::kLaunches;
constexpr RateOfProbe kRates[] = {
    {"sgd", &Accelerator::memory_Bps},
    {"axpby", &Accelerator::reduction_Bps},
    {"copy", &Accelerator::copy_Bps},
    {"encode", &Accelerator::codec_Bps, kCoded.encode_call + kCoded.encode_vector},
    {"decode", &Accelerator::codec_Bps, kCoded.decode_call + kCoded.decode_vector}};

const RateOfProbe* rate_of(const Probe& probe) {
  for (const RateOfProbe& rate : kRates)
    if (probe.name == rate.probe) return &rate;
  return nullptr;
}

/// Fits the rates and the launch overhead of the accelerator. All device probes share the overhead,
/// and probes with the same rate share that rate. A call with n kernel launches counts as n
/// calls on equal parts of the data.
void describe_device(std::vector<Probe>& probes, Accelerator& accelerator) {
  std::vector<double Accelerator::*> rates;
  std::vector<std::vector<Sample>> kinds;
  for (const Probe& probe : probes) {
    const RateOfProbe* rate = rate_of(probe);
    if (!rate) continue;
    if (rates.empty() || rates.back() != rate->Bps) {
      rates.push_back(rate->Bps);
      kinds.emplace_back();
    }
    for (const Sample& sample : probe.samples)
      kinds.back().push_back({sample.size / rate->launches, sample.seconds / rate->launches});
  }
  const std::vector<LineFit> fits = fit_lines(kinds);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    accelerator.*rates[i] = 1 / fits[i].seconds_per_unit;
    accelerator.launch_overhead_s = fits[i].overhead_s;
    for (Probe& probe : probes)
      if (const RateOfProbe* rate = rate_of(probe); rate && rate->Bps == rates[i])
        probe.fit = {rate->launches * fits[i].overhead_s, fits[i].seconds_per_unit};
  }
}

/// If the window limits a connection, describes the window, and the bandwidth of the NICs without
/// that limit. The other properties of TCP (slow start and the behaviour of idle connections) are
/// not measured; they get Linux's defaults.
void describe_window(const WindowProbe& window, Cluster& cluster) {
  if (!window.binds()) return;
  cluster.transport.tcp = linux_tcp();
  cluster.transport.tcp.window_bytes = std::round(window.in_flight_bytes());
  double& bandwidth_Bps = cluster.inter.bandwidth_Bps;
  bandwidth_Bps = std::max(bandwidth_Bps, window.together_Bps);
  cluster.intra.bandwidth_Bps = bandwidth_Bps;
}

}  // namespace

void describe(Calibration& c, int ranks) {
  c.cluster.nodes = ranks;
  c.cluster.accelerator.name = "calibrated";
  describe_device(c.probes, c.cluster.accelerator);
  for (Probe& probe : c.probes) {
    if (probe.name == "allreduce" || rate_of(probe)) continue;
    probe.fit = fit_line(probe.samples);
    if (probe.name == "sendrecv") {
      c.cluster.inter = link_of(probe.fit);
      c.cluster.intra = {c.cluster.inter.bandwidth_Bps, c.cluster.inter.latency_s};
    }
    if (probe.name == "gemm") c.cluster.accelerator.flops_per_s = 1 / probe.fit.seconds_per_unit;
  }
  if (c.window) describe_window(*c.window, c.cluster);
  if (c.step) c.cluster.accelerator.flops_per_s = flop_rate(*c.step, c.cluster.accelerator);
}

Calibration calibrate(Runtime& runtime, int ranks, const CalibrationOptions& options) {
  Calibration result;
  runtime.launch(Layout(ranks, 1), [&](const Context& raw) {
    const auto meter = instrument(raw, {});
    Calibration own = probe_all(meter->context(), options);
    if (raw.world_rank == 0) result = std::move(own);
  });
  if (!result.probes.empty()) describe(result, ranks);
  return result;
}

double ring_seconds(const Cluster& cluster, double bytes) {
  const double P = cluster.ranks(), part = bytes / P;
  Tcp open = cluster.transport.tcp;
  open.slow_start = open.restart_after_idle = false;
  TcpWindow window;
  const double latency_s = cluster.inter.latency_s;
  const TcpPath path{.rate_Bps = cluster.inter.bandwidth_Bps, .round_trip_s = 2 * latency_s};
  double steps_s = 0;
  for (int i = 0; i < 2 * (P - 1); ++i)
    steps_s = window.send(open, path, steps_s, part).end_s + latency_s;
  return steps_s + (P - 1) * cluster.accelerator.seconds(
                                 {3 * part, 3 * part / sizeof(float), Cost::Kind::reduction});
}

}  // namespace trigram
