// Long messages of Open MPI over TCP (Transport::Protocol::open_mpi), compared with closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "algorithms/collectives/collectives.h"
#include "tests/support/clusters.h"
#include "tests/support/simulate.h"

namespace trigram::test::open_mpi_test {
namespace {

using testing::HasSubstr;

constexpr double kBps = 1e9, kLatency = 10e-6;  // those of round_cluster
constexpr std::size_t kLong = 1'000'000, kShort = 60'000;
constexpr double kTransfer_s = kLong / kBps;
// The send buffer, as a time: twice the bytes in flight in a round trip.
constexpr double kBuffer_s = 2 * 2 * kLatency;

Cluster open_mpi(int nodes, int workers = 1) {
  Cluster cluster = round_cluster(nodes, workers);
  cluster.transport.protocol = Transport::Protocol::open_mpi;
  return cluster;
}

Transfer to(int peer, std::size_t nbytes) { return {Transfer::send, phantom_bytes(nbytes), peer}; }
Transfer from(int peer, std::size_t nbytes) {
  return {Transfer::recv, phantom_bytes(nbytes), peer};
}

/// How rank 1 waits until it begins: in a call that receives one byte from rank 2, which takes a
/// latency and 1 ns, or asleep.
enum class Waits { in_call, asleep };

void begin_late(const Context& ctx, double late_s, Waits waits) {
  if (late_s == 0) return;
  if (ctx.rank() == 1 && waits == Waits::asleep) ctx.stream->sleep_for(late_s);
  if (waits == Waits::asleep) return;
  if (ctx.rank() == 2) ctx.stream->sleep_for(late_s - kLatency - 1 / kBps);
  if (ctx.rank() == 1) receive_phantom(ctx, 2, 1);
  if (ctx.rank() == 2) send_phantom(ctx, 1, 1);
}

/// The times at which ranks 0 and 1 finish `times` exchanges of `nbytes`, if rank 1 begins `late_s`
/// after rank 0.
std::vector<double> exchange_s(std::size_t nbytes, double late_s, Waits waits = Waits::in_call,
                               int times = 1) {
  return simulate(open_mpi(3), [&](const Context& ctx) {
    begin_late(ctx, late_s, waits);
    if (ctx.rank() == 2) return 0.0;
    for (int i = 0; i < times; ++i) {
      const Transfer both[] = {from(1 - ctx.rank(), nbytes), to(1 - ctx.rank(), nbytes)};
      ctx.comm->transfer(both);
    }
    return ctx.stream->now();
  });
}

TEST(OpenMpi, SendsAShortMessageAtOnce) {
  for (const int rank : {0, 1})
    EXPECT_NEAR(exchange_s(kShort, 0)[rank], kLatency + kShort / kBps, 1e-12);
}

TEST(OpenMpi, ALongMessagePaysThreeLatencies) {
  for (const int rank : {0, 1})
    EXPECT_NEAR(exchange_s(kLong, 0)[rank], 3 * kLatency + kTransfer_s, 1e-12);
}

TEST(OpenMpi, BothDirectionsMoveIfNoSideIsLaterThanALatency) {
  // The announcement of each side arrives before the other side has anything else to send.
  const double late_s = kLatency / 2;
  const auto ends = exchange_s(kLong, late_s, Waits::asleep);
  EXPECT_NEAR(ends[0], late_s + 3 * kLatency + kTransfer_s, 1e-12);
  EXPECT_NEAR(ends[1], 3 * kLatency + kTransfer_s, 1e-12);
}

TEST(OpenMpi, DirectionsTakeTurnsIfOneSideIsLaterThanALatency) {
  const double late_s = 5 * kLatency;
  const auto ends = exchange_s(kLong, late_s);
  // Rank 1 requests the data when it begins. So rank 0 sends its data first, and its own request
  // after them.
  const double received_s = late_s + 2 * kLatency + kTransfer_s;
  EXPECT_NEAR(ends[0], received_s + kLatency + kTransfer_s, 1e-12);
  // Rank 1 continues when its kernel has accepted the whole message.
  EXPECT_NEAR(ends[1], received_s + kTransfer_s - kBuffer_s, 2e-9);
}

TEST(OpenMpi, ARankThatComputesReadsAnnouncementsAfterItHasSentItsOwn) {
  const double late_s = 5 * kLatency;
  for (const int rank : {0, 1})
    EXPECT_NEAR(exchange_s(kLong, late_s, Waits::asleep)[rank],
                late_s + (rank == 0 ? 3 : 2) * kLatency + kTransfer_s, 1e-12);
}

TEST(OpenMpi, DirectionsTakeTurnsInAllConsecutiveExchanges) {
  const auto third_s = [](double late_s, Waits waits) {
    return exchange_s(kLong, late_s, waits, 3)[0] - exchange_s(kLong, late_s, waits, 2)[0];
  };
  EXPECT_LT(third_s(kLatency / 2, Waits::asleep), 4.1 * kLatency + kTransfer_s);
  EXPECT_GT(third_s(5 * kLatency, Waits::in_call), 1.8 * kTransfer_s);
}

TEST(OpenMpi, ASenderContinuesWhenTheKernelHasItsMessage) {
  for (const double late_s : {0.0, 50 * kLatency}) {
    const auto ends = simulate(open_mpi(2), [&](const Context& ctx) {
      if (ctx.rank() == 1) ctx.stream->sleep_for(late_s);
      message_from_0_to_1(ctx, kLong);
      return ctx.stream->now();
    });
    const double asked_s = std::max(late_s, kLatency) + kLatency;
    EXPECT_NEAR(ends[0], asked_s + kTransfer_s - kBuffer_s, 2e-9);
    EXPECT_NEAR(ends[1], asked_s + kLatency + kTransfer_s, 1e-12);
  }
}

TEST(OpenMpi, SendsLongMessagesInsideANodeAtOnce) {
  const auto ends = simulate(open_mpi(1, 2), [](const Context& ctx) {
    const Transfer both[] = {from(1 - ctx.rank(), kLong), to(1 - ctx.rank(), kLong)};
    ctx.comm->transfer(both);
    return ctx.stream->now();
  });
  EXPECT_NEAR(ends[0], 1e-6 + kLong / 10e9, 1e-12);
}

TEST(OpenMpi, MessagesArriveInOrder) {
  // A short message does not overtake a long one that has not been requested yet.
  const auto wrong = simulate(open_mpi(2), [](const Context& ctx) {
    const std::size_t counts[] = {100, 100'000, 10, 50'000, 20};
    std::vector<Transfer> batch;
    for (const std::size_t count : counts) {
      const Tensor x = ctx.device->empty(count);
      ctx.device->fill(x, ctx.rank() == 0 ? static_cast<float>(count) : 0);
      batch.push_back({ctx.rank() == 0 ? Transfer::send : Transfer::recv, x, 1 - ctx.rank()});
    }
    ctx.comm->transfer(batch);
    double differ = 0;
    for (const Transfer& t : batch)
      for (const float value : ctx.device->download(t.tensor))
        differ += value != static_cast<float>(t.tensor.numel());
    return differ;
  });
  EXPECT_EQ(wrong, std::vector<double>(2, 0));
}

TEST(OpenMpi, AMessageWithoutAReceiveIsAHang) {
  const auto error = failure_of(open_mpi(2), [](const Context& ctx) {
    if (ctx.rank() == 0) send_phantom(ctx, 1, kLong);
  });
  EXPECT_THAT(error, HasSubstr("hang: "));
  EXPECT_THAT(error, HasSubstr("rank 0"));
}

TEST(OpenMpi, RefusesContradictoryOptions) {
  const auto error = [](Json transport) {
    if (!transport.contains("protocol")) transport["protocol"] = "open_mpi";
    return error_of(Json{{"nodes", 2}, {"transport", transport}}.dump());
  };
  for (const auto& [option, value] : {std::pair<const char*, Json>{"buffer", "4MiB"},
                                      {"slots", 8},
                                      {"streams", 2},
                                      {"channels", 2}})
    EXPECT_THAT(error({{option, value}}),
                HasSubstr(std::string("/cluster/transport/") + option + ": "));
  EXPECT_THAT(error({{"protocol", "eager"}, {"eager_limit", "64KiB"}}),
              HasSubstr("/cluster/transport/eager_limit: applies only to"));
  EXPECT_EQ(error({{"eager_limit", "64KiB"}, {"tcp", "linux"}}), "no error");
}

}  // namespace
}  // namespace trigram::test::open_mpi_test
