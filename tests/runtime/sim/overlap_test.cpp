// Computation that is slower while messages are in flight, compared with closed forms.
#include <gtest/gtest.h>

#include "tests/support/simulate.h"

namespace trigram::test::overlap_test {
namespace {

constexpr double kCompute_s = 10e-3, kSlowdown = 3;
constexpr std::size_t kBytes = 1'000'000;
constexpr double kMessage_s = 10e-6 + 1e-3;  // seconds of a message on round_cluster

Cluster slowed() {
  Cluster cluster = round_cluster(3);
  cluster.accelerator.overlap_slowdown = kSlowdown;
  cluster.transport.protocol = Transport::Protocol::rendezvous;  // one message at a time
  return cluster;
}

/// The time at which each rank has finished computing, while rank 0 sends messages to rank 1. Rank
/// `late`, by default the receiver, becomes ready for one of them only at `ready_s`. Rank 2 has no
/// messages.
std::vector<double> ends(const Cluster& cluster, int messages, double ready_s = 0,
                         bool in_pieces = false, int late = 1) {
  return simulate(cluster, [&](const Context& ctx) {
    auto comm = ctx.stream->fork("comm");
    const auto sent = comm->submit(ctx, [&](const Context& c) {
      if (c.rank() == late) c.stream->sleep_for(ready_s);
      for (int i = 0; i < messages; ++i) message_from_0_to_1(c, kBytes);
    });
    for (int i = 0; i < (in_pieces ? 1000 : 1); ++i)
      ctx.stream->compute(in_pieces ? kCompute_s / 1000 : kCompute_s);
    ctx.stream->wait(*sent);
    return ctx.stream->now();
  });
}

TEST(Overlap, SlowsComputationOfBothSidesWhileAMessageIsInFlight) {
  for (const int messages : {1, 3}) {
    const double lost_s = messages * kMessage_s * (1 - 1 / kSlowdown);
    const auto at = ends(slowed(), messages);
    EXPECT_NEAR(at[0], kCompute_s + lost_s, 1e-12);
    EXPECT_NEAR(at[1], kCompute_s + lost_s, 1e-12);
    EXPECT_NEAR(at[2], kCompute_s, 1e-15);
  }
}

TEST(Overlap, ExcludesTheTimeThatAMessageWaits) {
  for (const int late : {0, 1}) {
    const auto at = ends(slowed(), 1, 5e-3, false, late);
    for (const int rank : {0, 1})
      EXPECT_NEAR(at[static_cast<std::size_t>(rank)], kCompute_s + kMessage_s * (1 - 1 / kSlowdown),
                  1e-12)
          << late;
  }
  // The message overlaps with the end of the computation only in part.
  EXPECT_NEAR(ends(slowed(), 1, kCompute_s - 1e-4)[0], kCompute_s - 1e-4 + kMessage_s, 1e-12);
}

TEST(Overlap, IsTheSameIfComputationIsCutIntoPieces) {
  EXPECT_NEAR(ends(slowed(), 3, 0, true)[0], ends(slowed(), 3)[0], 1e-12);
}

TEST(Overlap, HasNoEffectByDefault) {
  EXPECT_NEAR(ends(round_cluster(3), 3)[0], kCompute_s, 1e-15);
}

TEST(Overlap, DoesNotSlowMessages) {
  EXPECT_NEAR(latest_end_s(ends(slowed(), 30)), 30 * kMessage_s, 1e-12);
}

}  // namespace
}  // namespace trigram::test::overlap_test
