#include "algorithms/servers/object_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/codec.h"
#include "tests/support/simulate.h"
#include "tests/support/training.h"

// The durations of exchanges through a store, compared with closed forms.

namespace trigram::test::object_store_test {
namespace {

constexpr double kLatency_s = 10e-6, kBandwidth_Bps = 1e9;
constexpr std::size_t kElements = 1'000'000;
constexpr double kCode = 2 * kElements;  // bytes in fp16

class ObjectStoreTimes : public ::testing::TestWithParam<SimOptions::Fidelity> {};

/// All codes enter through the store's port, and then all copies leave through it, each after a
/// latency. A single worker has nothing to exchange.
TEST_P(ObjectStoreTimes, AreThoseOfAllUploadsAndThenOfAllDownloads) {
  for (const int workers : {1, 2, 5}) {
    Cluster cluster = round_cluster(workers + 1);
    cluster.accelerator.memory_Bps = 1e30;  // coding takes no time
    cluster.inter.latency_s = kLatency_s;
    const auto ends = simulate(cluster,
                               [&](Context ctx) {
                                 const Tensor x = ctx.device->empty(kElements),
                                              residual = ctx.device->empty_like(x);
                                 const auto codec = ctx.device->codec({.name = "fp16"}, {});
                                 if (ctx.rank() == workers) serve_objects(ctx, x, *codec);
                                 else gather_through_store(ctx, x, *codec, residual);
                                 return ctx.stream->now();
                               },
                               {.fidelity = GetParam()});
    const double messages = workers > 1 ? workers + workers * (workers - 1) : 0;
    const double latencies = workers > 1 ? 2 : 0;
    const double expected = latencies * kLatency_s + messages * kCode / kBandwidth_Bps;
    EXPECT_NEAR(*std::max_element(ends.begin(), ends.end()), expected, 1e-9 * expected) << workers;
  }
}

INSTANTIATE_TEST_SUITE_P(Fidelities, ObjectStoreTimes,
                         ::testing::Values(SimOptions::Fidelity::message,
                                           SimOptions::Fidelity::fluid),
                         [](const auto& fidelity) {
                           return fidelity.param == SimOptions::Fidelity::fluid ? "fluid"
                                                                                : "message";
                         });

}  // namespace
}  // namespace trigram::test::object_store_test
