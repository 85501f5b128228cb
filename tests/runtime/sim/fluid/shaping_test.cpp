// Coupled flows through token buckets: a NIC saves credit in the idle time of a step and spends it
// in the exchange.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "tests/support/networks.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

namespace trigram::test::shaping_test {
namespace {

using Fidelity = SimOptions::Fidelity;

constexpr double kBurst_Bps = 1e9, kRate_Bps = 0.125e9, kIdle_s = 20e-3;
constexpr int kSteps = 6;

struct Step {
  int nodes, workers;
  double depth_bytes;
  std::size_t bytes;
};

Cluster shaped(const Step& step) {
  Cluster cluster = cluster_with_topology("flat", step.nodes, step.workers);
  cluster.inter.shaping = {kRate_Bps, step.depth_bytes};
  return cluster;
}

/// An all-to-all in which each peer gets as many bytes as in the rounds of a ring.
void rotate(const Context& ctx, std::size_t bytes) {
  const auto P = static_cast<std::size_t>(ctx.size());
  const std::vector<Tensor> send(P, phantom_bytes(bytes / P)), recv(P, phantom_bytes(bytes / P));
  direct_alltoall(ctx, send, recv);
}

/// The time at which rank 0 has finished `steps` steps. Each step is a pause, and a ring of all
/// workers or, with an `efficiency`, an all-to-all whose traffic has that efficiency.
double end_s(const Step& step, Fidelity fidelity, int steps, double efficiency = 0) {
  Cluster cluster = shaped(step);
  if (efficiency > 0) cluster.transport.efficiency.all_to_all = efficiency;
  const auto all_steps = [&](const Context& ctx) {
    for (int i = 0; i < steps; ++i) {
      ctx.stream->sleep_for(kIdle_s);
      if (efficiency > 0) rotate(ctx, step.bytes);
      else ring_allreduce(ctx, phantom_bytes(step.bytes), Reduce::sum);
    }
    return ctx.stream->now();
  };
  return simulate_phantoms(cluster, all_steps, {.fidelity = fidelity}).at(0);
}

std::vector<double> step_s(const Step& step, Fidelity fidelity) {
  std::vector<double> seconds;
  double before_s = 0;
  for (int steps = 1; steps <= kSteps; ++steps) {
    const double after_s = end_s(step, fidelity, steps);
    seconds.push_back(after_s - before_s);
    before_s = after_s;
  }
  return seconds;
}

class FluidShaping : public ::testing::TestWithParam<Step> {};

TEST_P(FluidShaping, TakesAsLongAsByMessages) {
  const auto fluid = step_s(GetParam(), Fidelity::fluid),
             by_messages = step_s(GetParam(), Fidelity::message);
  // By messages, the workers of a node pause one after another, so their NIC pauses for a shorter
  // time.
  const double tolerance = GetParam().workers > 1 ? 0.1 : 0.01;
  for (std::size_t i = 0; i < fluid.size(); ++i)
    EXPECT_NEAR(fluid[i], by_messages[i], tolerance * by_messages[i]) << "step " << i;
}

TEST_P(FluidShaping, InTheLongRunUsesTheCreditOfEachStep) {
  const Step& step = GetParam();
  const auto fluid = step_s(step, Fidelity::fluid);
  const int ranks = step.nodes * step.workers;
  // The bytes that cross a NIC in a step, in either direction.
  const double bytes = 2.0 * (ranks - 1) / ranks * static_cast<double>(step.bytes);
  const double saved = std::min(step.depth_bytes, kIdle_s * kRate_Bps);
  // While the bucket is full, idle time saves no further credit.
  const double at_least_s =
      std::max(kIdle_s + bytes / kBurst_Bps, kIdle_s + (bytes - saved) / kRate_Bps);
  EXPECT_GE(fluid.back(), at_least_s * (1 - 1e-9));
  EXPECT_NEAR(fluid.back(), at_least_s, 0.03 * at_least_s);
}

INSTANTIATE_TEST_SUITE_P(
    Rings, FluidShaping,
    ::testing::Values(Step{8, 1, 0, 4'000'000},            // a strict rate
                      Step{8, 1, 1'000'000, 4'000'000},    // credit for a part of the bytes
                      Step{8, 1, 100'000'000, 1'000'000},  // credit for all bytes
                      Step{4, 4, 1'000'000, 4'000'000}),   // through nodes of several workers
    [](const auto& step) {
      return std::to_string(step.param.nodes) + "x" + std::to_string(step.param.workers) + "_" +
             std::to_string(step.param.depth_bytes >= 1 ? static_cast<long>(step.param.depth_bytes)
                                                        : 0);
    });

/// The pairs of an all-to-all have one connection each, also where rings have two.
TEST(FluidShapingChannels, LimitFlowsLikeMessages) {
  for (const int channels : {1, 2}) {
    Cluster cluster = cluster_with_topology("flat", 4);
    cluster.transport.stream_cap_Bps = 0.1e9;
    cluster.transport.channels = channels;
    const auto end_s = [&](Fidelity fidelity, bool rotates) {
      const auto exchange = [&](const Context& ctx) {
        if (rotates) rotate(ctx, 4'000'000);
        else ring_allreduce(ctx, phantom_bytes(4'000'000), Reduce::sum);
        return ctx.stream->now();
      };
      return simulate_phantoms(cluster, exchange, {.fidelity = fidelity}).at(0);
    };
    const double latency_s = cluster.inter.latency_s;
    for (const Fidelity fidelity : {Fidelity::message, Fidelity::fluid}) {
      // The time includes the copy of the rank's own part.
      EXPECT_NEAR(end_s(fidelity, true), latency_s + 1e6 / 0.1e9, 1e-4);
      EXPECT_NEAR(end_s(fidelity, false), 6 * (latency_s + 1e6 / (channels * 0.1e9)), 1e-3);
    }
  }
}

/// An exchange that the network carries inefficiently uses as much credit as its messages do.
TEST(FluidShapingEfficiency, LimitsFlowsLikeMessages) {
  const Step step{8, 1, 0, 4'000'000};
  const double fluid_s = end_s(step, Fidelity::fluid, 2, 0.5);
  EXPECT_NEAR(fluid_s, end_s(step, Fidelity::message, 2, 0.5), 0.005 * fluid_s);
  const double own = static_cast<double>(step.bytes) / 8, copy_s = 2 * own / 100e9;
  const double step_s = kIdle_s + copy_s + 7 * own / (0.5 * kRate_Bps) + 10e-6;
  EXPECT_NEAR(fluid_s, 2 * step_s, 1e-9);
}

/// In most rounds of a rotation several workers of a node send at once. In the first round only one
/// does.
TEST(FluidShapingRotation, SpendsTheCreditOfAllWorkersOfANode) {
  const Step step{3, 4, 1'000'000, 0};
  constexpr std::size_t kBytes = 12'000'000;  // bytes of every worker for all workers together
  const auto end_s = [&](Fidelity fidelity) {
    const auto exchange = [](const Context& ctx) {
      rotate(ctx, kBytes);
      return ctx.stream->now();
    };
    return simulate_phantoms(shaped(step), exchange, {.fidelity = fidelity}).at(0);
  };
  const double leaves_node = 4.0 * 8 / 12 * kBytes;
  const double fluid_s = end_s(Fidelity::fluid);
  EXPECT_GE(fluid_s, (leaves_node - step.depth_bytes) / kRate_Bps);
  EXPECT_NEAR(fluid_s, end_s(Fidelity::message), 0.15 * fluid_s);
}

/// The rate of a flow has other limits besides its links.
TEST(FluidShapingConnections, LimitTheRateOfFlows) {
  constexpr double kCap_Bps = 0.3e9;
  const auto ends_s = [&](Fidelity fidelity) {
    Cluster cluster = shaped({4, 2, 100'000'000, 0});
    cluster.transport.connection_cap_Bps = kCap_Bps;
    const auto ring = [](const Context& ctx) {
      ring_allreduce(ctx, phantom_bytes(8'000'000), Reduce::sum);
      return ctx.stream->now();
    };
    return simulate_phantoms(cluster, ring, {.fidelity = fidelity});
  };
  const auto fluid = ends_s(Fidelity::fluid), by_messages = ends_s(Fidelity::message);
  ASSERT_EQ(fluid.size(), 8u);
  ASSERT_EQ(by_messages.size(), 8u);
  EXPECT_NEAR(fluid[0], by_messages[0], 0.01 * by_messages[0]);
  EXPECT_GT(fluid[0], 2 * 7.0 / 8 * 8e6 / kCap_Bps);
}

TEST(FluidShapingAuto, UsesMessages) {
  const Step step{8, 1, 1'000'000, 4'000'000};
  EXPECT_EQ(step_s(step, Fidelity::automatic), step_s(step, Fidelity::message));
}

}  // namespace
}  // namespace trigram::test::shaping_test
