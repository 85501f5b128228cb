// The world of threads on an emulated network, in real time: messages are never faster than the
// cluster's network and, if the machine is not busy, hardly slower.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "core/check.h"
#include "runtime/threads/threads_runtime.h"
#include "tests/oracles/closed_forms.h"

namespace trigram::test::shaping_test {
namespace {

constexpr double kBandwidth_Bps = 20e6, kLatency_s = 10e-3;
constexpr double kSlack = TRIGRAM_SLACK;  // allowed factor for the fastest attempt

Cluster flat(int nodes) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.inter = {kBandwidth_Bps, kLatency_s};
  return cluster;
}

void launch(const Cluster& cluster, const Task& rank_main, double watchdog_s = 30) {
  make_threads_runtime({.shaping = ThreadsOptions::Shaping::cluster, .watchdog_s = watchdog_s},
                       cluster)
      ->launch(cluster.layout(), rank_main);
}

/// The time in seconds from the first rank's begin of `action` to the last rank's end, in the
/// fastest of several attempts, because other programs on this machine can only make it slower.
/// Stops at the first attempt that takes at most `enough_s`.
double fastest_s(const Cluster& cluster, const std::function<void(Context)>& action,
                 double enough_s) {
  double fastest = 1e9;
  for (int attempt = 0; attempt < 20 && fastest > enough_s; ++attempt) {
    std::vector<double> begins_s(static_cast<std::size_t>(cluster.ranks())), ends_s = begins_s;
    launch(cluster, [&](Context ctx) {
      ctx.stream->sleep_for(5e-3);  // by then all ranks have started
      const auto rank = static_cast<std::size_t>(ctx.rank());
      begins_s[rank] = ctx.stream->now();
      action(ctx);
      ends_s[rank] = ctx.stream->now();
    });
    fastest = std::min(fastest, std::ranges::max(ends_s) - std::ranges::min(begins_s));
  }
  return fastest;
}

void expect_takes(double expected_s, const Cluster& cluster,
                  const std::function<void(Context)>& action) {
  const double seconds = fastest_s(cluster, action, kSlack * expected_s);
  EXPECT_GE(seconds, 0.97 * expected_s);  // ranks begin within a fraction of a millisecond
  EXPECT_LE(seconds, kSlack * expected_s);
}

Tensor bytes(std::size_t n) { return Tensor::phantom(n, DType::u8, n); }
Transfer to(int peer, const Tensor& x) { return {Transfer::send, x, peer}; }
Transfer from(int peer, const Tensor& x) { return {Transfer::recv, x, peer}; }

/// Rank 0 sends a message to rank 1.
std::function<void(Context)> one_message(std::size_t nbytes) {
  return [nbytes](Context ctx) {
    if (ctx.rank() == 0) ctx.comm->transfer(std::array{to(1, bytes(nbytes))});
    if (ctx.rank() == 1) ctx.comm->transfer(std::array{from(0, bytes(nbytes))});
  };
}

TEST(Shaping, AMessageTakesItsLatencyAndItsBytes) {
  expect_takes(kLatency_s, flat(2), one_message(0));
  expect_takes(kLatency_s + 2e6 / kBandwidth_Bps, flat(2), one_message(2'000'000));
}

TEST(Shaping, PricedBytesTakeTheirPricedTime) {
  expect_takes(kLatency_s + 2e6 / kBandwidth_Bps, flat(2), [](Context ctx) {
    const Tensor x = ctx.device->empty(10, DType::f32, 500'000);
    ctx.device->fill(x, ctx.rank() == 0 ? 7.0f : 0.0f);
    const Transfer half = ctx.rank() == 0 ? to(1, x) : from(0, x);
    ctx.comm->transfer(std::array{half});
    EXPECT_EQ(x.floats()[9], 7.0f);
  });
}

TEST(Shaping, TwoMessagesThroughOneNicTakeTwiceAsLong) {
  constexpr std::size_t kBytes = 2'000'000;
  expect_takes(kLatency_s + 2 * kBytes / kBandwidth_Bps, flat(3), [](Context ctx) {
    if (ctx.rank() == 0) ctx.comm->transfer(std::array{to(1, bytes(kBytes)), to(2, bytes(kBytes))});
    else ctx.comm->transfer(std::array{from(0, bytes(kBytes))});
  });
}

TEST(Shaping, ARingTakesItsClosedForm) {
  constexpr std::size_t kLength = 62'500;
  // The network is so slow that the time of the machine's own computation is negligible, even with
  // sanitizers.
  Cluster cluster = flat(4);
  cluster.inter.bandwidth_Bps = kBandwidth_Bps / 8;
  const CostModel costs{.alpha_s = kLatency_s, .beta_s = 1 / cluster.inter.bandwidth_Bps};
  expect_takes(ring_allreduce_s(costs, 4, kLength, false), cluster, [](Context ctx) {
    const Tensor x = ctx.device->empty(kLength);
    ctx.device->fill(x, 1);
    ring_allreduce(ctx, x, Reduce::sum);
    EXPECT_EQ(x.floats()[0], 4.0f);
  });
}

/// Rank 0 sends messages one by one, and rank 1 receives them one by one.
std::function<void(Context)> one_by_one(int messages, std::size_t nbytes) {
  return [=](Context ctx) {
    for (int i = 0; i < messages; ++i) one_message(nbytes)(ctx);
  };
}

TEST(Shaping, LatenciesOfConsecutiveMessagesOverlap) {
  constexpr int kMessages = 8;
  constexpr std::size_t kBytes = 100'000;
  const double bytes_s = kMessages * kBytes / kBandwidth_Bps;
  expect_takes(kLatency_s + bytes_s, flat(2), one_by_one(kMessages, kBytes));

  Cluster rendezvous = flat(2);
  rendezvous.transport.protocol = Transport::Protocol::rendezvous;
  expect_takes(kMessages * kLatency_s + bytes_s, rendezvous, one_by_one(kMessages, kBytes));
}

TEST(Shaping, AConnectionSpendsItsOverheadOnEachMessage) {
  Cluster cluster = flat(2);
  cluster.transport.message_overhead_s = 5e-3;
  expect_takes(kLatency_s + 6 * 5e-3, cluster, one_by_one(6, 0));
}

TEST(Shaping, WithOneSlotOneMessageIsBuffered) {
  Cluster cluster = flat(2);
  cluster.transport.slots = 1;
  expect_takes(5 * kLatency_s, cluster, one_by_one(5, 0));
}

TEST(Shaping, AMessageTravelsBeforeItsReceiveIsPosted) {
  constexpr std::size_t kBytes = 2'000'000;
  const double travels_s = kLatency_s + kBytes / kBandwidth_Bps;
  const auto late = [=](Context ctx) {
    if (ctx.rank() == 1) ctx.stream->sleep_for(0.8 * travels_s);
    one_message(kBytes)(ctx);
    if (ctx.rank() == 0) ctx.stream->sleep_for(travels_s);
  };
  expect_takes(travels_s, flat(2), late);
}

TEST(Shaping, MessagesInsideANodeBypassTheNic) {
  Cluster cluster = flat(2);
  cluster.workers_per_node = 2;
  cluster.intra = {2 * kBandwidth_Bps, kLatency_s / 2};
  expect_takes(kLatency_s / 2 + 4e6 / (2 * kBandwidth_Bps), cluster, one_message(4'000'000));
}

TEST(Shaping, ControlMessagesTakeTheLatency) {
  expect_takes(kLatency_s, flat(2), [](Context ctx) {
    ctx.control->post(1 - ctx.rank(), 1, 0);
    ctx.control->receive(1);
  });
}

TEST(Shaping, MessagesToOneselfDoNotUseTheNetwork) {
  const auto own_message = [](Context ctx) {
    ctx.comm->transfer(std::array{to(ctx.rank(), bytes(100)), from(ctx.rank(), bytes(100))});
    ctx.control->post(ctx.rank(), 1, 0);
    ctx.control->receive(1);
  };
  EXPECT_LT(fastest_s(flat(2), own_message, kLatency_s / 2), kLatency_s / 2);
}

TEST(Shaping, SoftwareOverheadIsAddedBetweenNodes) {
  Cluster cluster = flat(2);
  cluster.transport.message_overhead_s = 20e-3;
  cluster.transport.stage_overhead_s = 30e-3;
  expect_takes(kLatency_s + 50e-3, cluster, one_message(0));
}

TEST(Shaping, AConnectionMovesNoMoreThanItsCap) {
  Cluster cluster = flat(2);
  cluster.transport.connection_cap_Bps = kBandwidth_Bps / 4;
  expect_takes(kLatency_s + 5e5 / (kBandwidth_Bps / 4), cluster, one_message(500'000));
}

TEST(Shaping, ShortComputationsAddUp) {
  // Each sleep is about 60 us too long. This would add up to 6 %.
  const auto compute = [](Context ctx) {
    for (int i = 0; i < 150; ++i) ctx.stream->compute(1e-3);
  };
  const double seconds = fastest_s(flat(1), compute, 0.15 * 1.03);
  EXPECT_GE(seconds, 0.15);
  EXPECT_LE(seconds, 0.15 * 1.03);
}

TEST(Shaping, AMessageInFlightIsNotAHang) {
  constexpr double kWatchdog_s = 0.4;         // longer than the pauses of a busy machine
  constexpr std::size_t kBytes = 24'000'000;  // takes 1.2 s, three times the watchdog's timeout
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NO_THROW(launch(flat(2), one_message(kBytes), kWatchdog_s));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(taken.count(), 2 * kWatchdog_s) << "shorter than the watchdog waits";
}

TEST(Shaping, AnErrorDoesNotWaitForMessagesInFlight) {
  constexpr std::size_t kBytesOfHours = 1'000'000'000'000;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(launch(flat(3),
                      [](Context ctx) {
                        if (ctx.rank() == 2) {
                          ctx.stream->sleep_for(0.05);
                          throw std::out_of_range("now");
                        }
                        const int peer = 1 - ctx.rank();
                        ctx.comm->transfer(std::array{to(peer, bytes(kBytesOfHours)),
                                                      from(peer, bytes(kBytesOfHours))});
                      }),
               std::out_of_range);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Shaping, RefusesAnotherClustersLayout) {
  auto runtime = make_threads_runtime({.shaping = ThreadsOptions::Shaping::cluster}, flat(2));
  EXPECT_THROW(runtime->launch(Layout(3, 1), [](Context) {}), InvariantError);
}

}  // namespace
}  // namespace trigram::test::shaping_test
