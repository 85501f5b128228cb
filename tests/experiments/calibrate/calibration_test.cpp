#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "core/device/timed_device.h"
#include "experiments/calibrate/calibration.h"
#include "experiments/calibrate/calibration_table.h"
#include "experiments/calibrate/device_probes.h"
#include "experiments/calibrate/line_fit.h"
#include "experiments/calibrate/workload_probe.h"
#include "tests/support/lone_rank.h"

namespace trigram::calibration_test {
namespace {

std::vector<Sample> samples_of(double overhead_s, double per_unit) {
  std::vector<Sample> samples;
  for (double size = 1000; size <= 1e7; size *= 10)
    samples.push_back({size, overhead_s + size * per_unit});
  return samples;
}

TEST(LineFit, FindsTheLineOfExactTimes) {
  const auto samples = samples_of(5e-6, 2e-10);
  const LineFit fit = fit_line(samples);
  EXPECT_NEAR(fit.overhead_s, 5e-6, 1e-12);
  EXPECT_NEAR(fit.seconds_per_unit, 2e-10, 1e-18);
  for (const Sample& s : samples) EXPECT_NEAR(fit.residual(s), 0, 1e-9);
}

TEST(LineFit, GivesShortAndLongTimesEqualWeight) {
  auto samples = samples_of(5e-6, 2e-10);
  samples.back().seconds *= 1.1;  // with plain least squares, only this sample would matter
  const LineFit fit = fit_line(samples);
  EXPECT_NEAR(fit.residual(samples.front()), 0, 0.02);
  EXPECT_LT(fit.residual(samples.back()), 0);
}

TEST(LineFit, HasNoNegativeOverhead) {
  const std::vector<Sample> samples = {{1, 1}, {10, 20}};
  const LineFit fit = fit_line(samples);
  EXPECT_EQ(fit.overhead_s, 0);
  // The minimum of the sum of (b - 1)^2 and (b / 2 - 1)^2.
  EXPECT_NEAR(fit.seconds_per_unit, 1.5 / 1.25, 1e-12);
}

TEST(LineFit, RefusesTimesThatAreNoLine) {
  const auto fit = [](std::vector<Sample> samples) { return fit_line(samples); };
  EXPECT_THROW(fit({{1, 1}}), std::runtime_error);
  EXPECT_THROW(fit({{5, 1}, {5, 2}}), std::runtime_error);
  EXPECT_THROW(fit({{1, 0}, {2, 1}}), std::runtime_error);
  EXPECT_THROW(fit({{1, 2}, {100, 1}}), std::runtime_error);
}

TEST(LineFit, SharesOneOverheadBetweenKinds) {
  const std::vector<std::vector<Sample>> exact = {samples_of(5e-6, 2e-10), samples_of(5e-6, 1e-9)};
  const auto fits = fit_lines(exact);
  ASSERT_EQ(fits.size(), 2u);
  for (const LineFit& fit : fits) EXPECT_NEAR(fit.overhead_s, 5e-6, 1e-12);
  EXPECT_NEAR(fits[0].seconds_per_unit, 2e-10, 1e-18);
  EXPECT_NEAR(fits[1].seconds_per_unit, 1e-9, 1e-17);

  const std::vector<std::vector<Sample>> unlike = {samples_of(4e-6, 2e-10),
                                                   samples_of(6e-6, 2e-10)};
  const auto between = fit_lines(unlike);
  EXPECT_EQ(between[0].overhead_s, between[1].overhead_s);
  EXPECT_GT(between[0].overhead_s, 4e-6);
  EXPECT_LT(between[0].overhead_s, 6e-6);

  // An overhead between 3 us and 6 us would exceed most times of the first kind, so the shared
  // overhead is the shortest measured time.
  const std::vector<std::vector<Sample>> overhead_dominates = {samples_of(3e-6, 1e-13),
                                                               samples_of(6e-6, 1e-13)};
  const auto shortest = fit_lines(overhead_dominates);
  EXPECT_NEAR(shortest[0].overhead_s, 3e-6 + 1e3 * 1e-13, 1e-12);
  for (const LineFit& fit : shortest) EXPECT_GT(fit.seconds_per_unit, 0);

  const std::vector<std::vector<Sample>> falls = {samples_of(5e-6, 2e-10), {{1, 2}, {100, 1}}};
  EXPECT_THROW(fit_lines(falls), std::runtime_error);
}

Accelerator test_accelerator() {
  Accelerator a;
  a.flops_per_s = 3e12;
  a.memory_Bps = 500e9;
  a.launch_overhead_s = 3e-6;
  a.reduction_Bps = 400e9;
  a.copy_Bps = 600e9;
  a.codec_Bps = 100e9;
  return a;
}

/// The times that an accelerator with these rates would take, by probe names.
Calibration measured_on(const Accelerator& a, const LinkSpec& link) {
  const auto times_at = [&](double per_s, int launches = 1) {
    return samples_of(launches * a.launch_overhead_s, 1 / per_s);
  };
  Calibration c;
  c.probes = {{"sgd", times_at(a.memory_Bps), {}},
              {"axpby", times_at(a.reduction_Bps), {}},
              {"copy", times_at(a.copy_Bps), {}},
              // The default codec, minmax_uint8, launches three kernels to encode.
              {"encode", times_at(a.codec_Bps, 3), {}},
              {"decode", times_at(a.codec_Bps), {}},
              {"gemm", samples_of(0, 1 / a.flops_per_s), {}, "FLOP"},
              {"sendrecv", samples_of(link.latency_s, 1 / link.bandwidth_Bps), {}}};
  return c;
}

TEST(Calibration, FindsTheRatesFromWhichTheTimesWereComputed) {
  const Accelerator a = test_accelerator();
  Calibration c = measured_on(a, {5e9, 2e-5});
  describe(c, 3);
  EXPECT_EQ(c.cluster.ranks(), 3);
  EXPECT_NEAR(c.cluster.inter.bandwidth_Bps / 5e9, 1, 1e-6);
  EXPECT_NEAR(c.cluster.inter.latency_s, 2e-5, 1e-11);
  for (const auto rate :
       {&Accelerator::flops_per_s, &Accelerator::memory_Bps, &Accelerator::launch_overhead_s,
        &Accelerator::reduction_Bps, &Accelerator::copy_Bps, &Accelerator::codec_Bps})
    EXPECT_NEAR(c.cluster.accelerator.*rate / (a.*rate), 1, 1e-6);
  for (const Probe& probe : c.probes)
    for (const Sample& s : probe.samples) EXPECT_NEAR(probe.fit.residual(s), 0, 1e-6) << probe.name;
}

/// One rate represents both directions of a codec.
TEST(Calibration, PutsTheRateOfCodecsBetweenEncodingAndDecoding) {
  Calibration c = measured_on(test_accelerator(), {1e9, 1e-6});
  for (Probe& probe : c.probes)
    if (probe.name == "decode") probe.samples = samples_of(3e-6, 1 / 300e9);
  describe(c, 2);
  EXPECT_GT(c.cluster.accelerator.codec_Bps, 100e9);
  EXPECT_LT(c.cluster.accelerator.codec_Bps, 300e9);
}

TEST(Calibration, DescribesAWindowOnlyIfItLimitsAConnection) {
  // Three connections together are faster than one: the window limits a connection.
  Calibration c = measured_on(test_accelerator(), {6.5e6, 5e-3});
  c.window = WindowProbe{.round_trip_s = 10e-3, .connections = 3, .one_Bps = 6.5e6};
  c.window->together_Bps = 19e6;
  describe(c, 4);
  EXPECT_EQ(c.cluster.transport.tcp.window_bytes, 65'000);
  EXPECT_NEAR(c.cluster.inter.bandwidth_Bps, 19e6, 1);
  EXPECT_EQ(c.cluster.intra.bandwidth_Bps, c.cluster.inter.bandwidth_Bps);
  EXPECT_NE(
      calibration_table(c).find("window               65000 B: one connection moves 6.5 MB/s"),
      std::string::npos)
      << calibration_table(c);

  // Together they are hardly faster: the link is the limit.
  c = measured_on(test_accelerator(), {6.5e6, 5e-3});
  c.window = WindowProbe{.round_trip_s = 10e-3, .connections = 3, .one_Bps = 6.5e6};
  c.window->together_Bps = 7e6;
  describe(c, 4);
  EXPECT_FALSE(c.cluster.transport.tcp.has_window());
  EXPECT_NEAR(c.cluster.inter.bandwidth_Bps, 6.5e6, 10);
  EXPECT_NE(calibration_table(c).find("does not bind (at least 65000 B)"), std::string::npos);

  c.window->connections = 0;
  c.window->together_Bps = 0;
  describe(c, 4);
  EXPECT_FALSE(c.cluster.transport.tcp.has_window());
  EXPECT_NE(calibration_table(c).find("not measured: at least three ranks are needed"),
            std::string::npos);
  c.window->round_trip_s = 20e-6;
  EXPECT_NE(calibration_table(c).find("not measured: the round trip of 0.02 ms"),
            std::string::npos);
}

/// For every probe of the device, the traffic and the kind must equal the values from which the
/// simulator computes the operation's time.
TEST(DeviceProbes, CountTheTrafficFromWhichTheSimulatorComputesTimes) {
  const std::map<std::string, Cost::Kind> kinds = {{"sgd", Cost::Kind::other},
                                                   {"axpby", Cost::Kind::reduction},
                                                   {"copy", Cost::Kind::copy},
                                                   {"encode", Cost::Kind::codec},
                                                   {"decode", Cost::Kind::codec}};
  ASSERT_EQ(device_probes().size(), kinds.size());
  for (const BenchEntry& entry : device_probes()) {
    test::RecordingStream stream;
    HostDevice host;
    TimedDevice device(host, stream);
    Context ctx;
    ctx.device = &device;
    ctx.stream = &stream;
    const auto exercise = entry.make(ctx, 1000);
    exercise->fill();
    stream.charged.clear();
    exercise->run();
    ASSERT_EQ(stream.charged.size(), 1u) << entry.operation;
    const Cost cost = stream.charged.front();
    EXPECT_NEAR(cost.bytes, exercise->bus_factor() * 1000 * sizeof(float), 1e-6) << entry.operation;
    EXPECT_EQ(cost.kind, kinds.at(entry.operation));
  }
}

TEST(SecondsOf, IsTheMedianOfIterationsEachTheMeanOfItsBatch) {
  test::RecordingStream stream;
  Context ctx;
  ctx.stream = &stream;
  const auto run = [&] { stream.compute(stream.computations % 2 ? 1.0 : 3.0); };
  SizeRange sizes{.iterations = 3, .warm_up = 2};
  EXPECT_EQ(seconds_of(ctx, sizes, run), 3);  // without batches: the median of 3, 1 and 3
  EXPECT_EQ(stream.computations, 2 + 3);
  stream = {};
  sizes.batch_s = 7.5;  // 3 + 1 + 3 + 1 reaches this
  EXPECT_EQ(seconds_of(ctx, sizes, run), 2);
  EXPECT_EQ(stream.computations, 2 + 3 * 4);
}

TEST(FlopRate, PredictsTheMeasuredTimeOfTheStep) {
  Accelerator accelerator;
  accelerator.flops_per_s = 3e9;
  accelerator.memory_Bps = 5e9;
  accelerator.launch_overhead_s = 1e-6;
  // The first and the last operation are limited by arithmetic, and the second by memory.
  StepProbe step{0, {{1e6, 1e8}, {1e7, 10}, {10, 1e5}}};
  for (const Cost& cost : step.costs) step.seconds += accelerator.seconds(cost);
  Accelerator other = accelerator;
  other.flops_per_s = 1;
  EXPECT_NEAR(flop_rate(step, other) / 3e9, 1, 1e-6);
  step.seconds = 1e-3;  // less than the traffic takes
  EXPECT_THROW(flop_rate(step, other), std::runtime_error);
}

TEST(RingSeconds, AddsUpStepsAndReductions) {
  Cluster cluster;
  cluster.nodes = 4;
  cluster.inter = {1e9, 1e-5};
  cluster.accelerator = {"", 1e15, 1e10, 1e-6};
  // Six steps of 1 MB each. Three of them are followed by a reduction, which causes 3 MB of memory
  // traffic.
  EXPECT_NEAR(ring_seconds(cluster, 4e6), 6 * (1e-5 + 1e-3) + 3 * (1e-6 + 3e-4), 1e-12);
  cluster.transport.tcp.window_bytes = 1e4;  // per round trip of 20 us: half the bandwidth
  // A hundred windows. 99 of them take a round trip each; the last takes only its transmission
  // (10 us) and the latency (10 us).
  const double step_s = 1e-5 + 99 * 2e-5 + 1e-5;
  EXPECT_NEAR(ring_seconds(cluster, 4e6), 6 * step_s + 3 * (1e-6 + 3e-4), 1e-12);
}

}  // namespace
}  // namespace trigram::calibration_test
