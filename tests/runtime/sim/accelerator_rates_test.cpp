// Separate rates for codecs, reductions and copies, in the simulator.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "algorithms/collectives/collectives.h"
#include "core/metering/meter.h"
#include "netmodels/machines.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

namespace trigram::test::accelerator_rates_test {
namespace {

constexpr std::size_t kNumel = 1'000'000;
constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kMemory_Bps = 100e9;   // of round_cluster
constexpr double kVector = 4 * kNumel;  // in bytes

struct Operation {
  const char* name;
  double Accelerator::*rate;
  std::function<void(const Context&)> work;
  double bytes;  // of memory traffic
  int launches = 1;
};

/// The operations to which each rate applies.
std::vector<Operation> operations() {
  const auto vector = [](const Context& ctx) { return ctx.device->empty(kNumel); };
  const double code = 32 + kNumel;  // a header, and one byte for each number
  return {
      {"encoding", &Accelerator::codec_Bps,
       [=](const Context& ctx) {
         const Tensor x = vector(ctx);
         const auto codec = ctx.device->codec({"minmax_uint8"});
         codec->encode(codec->empty_wire(*ctx.device, x), x);
       },
       kVector + code, 3},
      {"decoding", &Accelerator::codec_Bps,
       [=](const Context& ctx) {
         const Tensor x = vector(ctx);
         const auto codec = ctx.device->codec({"minmax_uint8"});
         codec->decode(x, codec->empty_wire(*ctx.device, x));
       },
       kVector + code},
      {"summing", &Accelerator::reduction_Bps,
       [=](const Context& ctx) { ctx.device->axpby(1, vector(ctx), 1, vector(ctx)); }, 3 * kVector},
      {"scaling", &Accelerator::reduction_Bps,
       [=](const Context& ctx) { ctx.device->axpby(0.5, vector(ctx), 0, vector(ctx)); },
       2 * kVector},
      {"maxima", &Accelerator::reduction_Bps,
       [=](const Context& ctx) { ctx.device->maximum(vector(ctx), vector(ctx)); }, 3 * kVector},
      {"copying", &Accelerator::copy_Bps,
       [=](const Context& ctx) { ctx.device->copy(vector(ctx), vector(ctx)); }, 2 * kVector},
  };
}

double seconds(const Accelerator& accelerator, const std::function<void(const Context&)>& work) {
  Cluster cluster = round_cluster(1);
  cluster.accelerator = accelerator;
  return simulate_phantoms(cluster,
                           [&](const Context& ctx) {
                             work(ctx);
                             return ctx.stream->now();
                           })
      .at(0);
}

Accelerator plain() { return round_cluster(1).accelerator; }

TEST(AcceleratorRates, DefaultToTheMemoryBandwidth) {
  for (const Operation& operation : operations())
    EXPECT_NEAR(seconds(plain(), operation.work), operation.bytes / kMemory_Bps, 1e-15)
        << operation.name;
}

TEST(AcceleratorRates, PriceTheirOperations) {
  for (const Operation& operation : operations()) {
    Accelerator slow = plain();
    slow.*operation.rate = 7e9;
    EXPECT_NEAR(seconds(slow, operation.work), operation.bytes / 7e9, 1e-15) << operation.name;
    slow.*operation.rate *= 2;
    EXPECT_NEAR(seconds(slow, operation.work), operation.bytes / 14e9, 1e-15) << operation.name;
    slow.*operation.rate = kForever;
    EXPECT_EQ(seconds(slow, operation.work), 0) << operation.name;
    slow.launch_overhead_s = 1e-3;
    EXPECT_NEAR(seconds(slow, operation.work), operation.launches * 1e-3, 1e-15) << operation.name;
  }
}

TEST(AcceleratorRates, DoNotAffectOtherOperations) {
  for (const Operation& operation : operations())
    for (const auto rate :
         {&Accelerator::codec_Bps, &Accelerator::reduction_Bps, &Accelerator::copy_Bps}) {
      if (rate == operation.rate) continue;
      Accelerator other = plain();
      other.*rate = 1e6;
      EXPECT_EQ(seconds(other, operation.work), seconds(plain(), operation.work)) << operation.name;
    }
  Accelerator all = plain();
  all.codec_Bps = all.reduction_Bps = all.copy_Bps = 1e6;
  const auto optimizer = [](const Context& ctx) {
    const Tensor w = ctx.device->empty(kNumel);
    ctx.device->fill(w, 0);
    ctx.device->update(MomentumStep{.lr = 1, .momentum = 0.5f}, w, w, {w});
  };
  EXPECT_EQ(seconds(all, optimizer), seconds(plain(), optimizer));
}

/// A slow worker's operations are slower at the separate rates, too.
TEST(AcceleratorRates, AreDividedByTheFactorOfAWorker) {
  Cluster cluster = round_cluster(1);
  cluster.accelerator.codec_Bps = 7e9;
  cluster.slow_workers = {{0, 3}};
  const Operation encoding = operations().front();
  const auto ends = simulate(cluster, [&](const Context& raw) {
    const auto machine = make_machine_model(cluster);
    const auto meter = instrument(raw, {.phantom = true, .machine = machine.get(), .sink = {}});
    const Context ctx = meter->context();
    encoding.work(ctx);
    return ctx.stream->now();
  });
  EXPECT_NEAR(ends.at(0), 3 * encoding.bytes / 7e9, 1e-15);
}

/// The reductions of a ring, by messages and as flows: P-1 sums, which pass over n/P elements three
/// times, and one scaling.
TEST(AcceleratorRates, PriceTheReductionsOfCollectives) {
  constexpr int kRanks = 4;
  using Fidelity = SimOptions::Fidelity;
  for (const Fidelity fidelity : {Fidelity::message, Fidelity::fluid})
    for (const double rate : {5e9, 10e9, kForever}) {
      Cluster cluster = round_cluster(kRanks);
      cluster.accelerator.reduction_Bps = rate;
      const double end_s = latest_end_s(
          simulate_phantoms(cluster,
                            [&](const Context& ctx) {
                              ring_allreduce(ctx, ctx.device->empty(kNumel), Reduce::avg);
                              return ctx.stream->now();
                            },
                            {.fidelity = fidelity}));
      const double chunk = kVector / kRanks;
      const double expected_s =
          2 * (kRanks - 1) * (10e-6 + chunk / 1e9) + (3 * (kRanks - 1) + 2) * chunk / rate;
      EXPECT_NEAR(end_s, expected_s, 1e-9 * expected_s);
    }
}

/// If a rate is halved, the time that it adds to a step doubles.
TEST(AcceleratorRates, AddToTheTimeOfAStep) {
  const auto run_s = [](double Accelerator::*rate, double Bps) {
    Training training;
    training.algorithm = {{"name", "bytegrad"}, {"overlap", false}};
    training.workload = std::string("profile:") + TRIGRAM_TEST_DATA "/tiny_profile.csv";
    training.cluster = small_cluster(4);
    training.cluster.accelerator.*rate = Bps;
    return train(training).seconds();
  };
  for (const auto rate :
       {&Accelerator::codec_Bps, &Accelerator::reduction_Bps, &Accelerator::copy_Bps}) {
    const double none_s = run_s(rate, kForever), one_s = run_s(rate, 1e9) - none_s;
    EXPECT_GT(one_s, 0);
    EXPECT_NEAR(run_s(rate, 0.5e9) - none_s, 2 * one_s, 1e-9);
  }
}

TEST(AcceleratorRates, AreReadFromTheDescription) {
  const Json described = {{"codec_bandwidth", "300GB/s"}, {"copy_bandwidth", "700GB/s"}};
  const Cluster cluster = parse_cluster({{"accelerator", described}}, "");
  EXPECT_EQ(cluster.accelerator.codec_Bps, 300e9);
  EXPECT_EQ(cluster.accelerator.copy_Bps, 700e9);
  EXPECT_EQ(cluster.accelerator.reduction_Bps, 0);
  const Json dumped = cluster_fields().dump(cluster).at("accelerator");
  EXPECT_TRUE(dumped.contains("codec_bandwidth"));
  EXPECT_FALSE(dumped.contains("reduction_bandwidth"));
  EXPECT_EQ(parse_cluster({{"accelerator", dumped}}, "").accelerator.codec_Bps, 300e9);
  for (const char* zero : {"codec_bandwidth", "reduction_bandwidth", "copy_bandwidth"})
    EXPECT_THROW(parse_cluster({{"accelerator", {{zero, "0GB/s"}}}}, ""), ConfigError);
}

}  // namespace
}  // namespace trigram::test::accelerator_rates_test
