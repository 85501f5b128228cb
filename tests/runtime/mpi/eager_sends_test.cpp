// The time at which a send ends on a network that delays packets by itself. Runs as a job of two
// processes.

#include <gtest/gtest.h>

#include <array>

#include "runtime/mpi/mpi_runtime.h"

namespace trigram::test::eager_sends_test {
namespace {

constexpr double kLatency_s = 1.5;

/// The seconds that rank 0 takes to send a message to another node before the receive is posted.
double send_s(Transport::Protocol protocol) {
  MpiOptions options{.eager = {.latency_s = kLatency_s, .piece_nbytes = 4096}};
  options.transport.protocol = protocol;
  double seconds = 0;
  make_mpi_runtime(options)->launch(Layout(2, 1), [&](Context ctx) {
    const Tensor x = ctx.device->empty(100);
    if (ctx.rank() == 1) {
      ctx.control->receive(0);
      ctx.comm->transfer(std::array{Transfer{Transfer::recv, x, 0}});
      return;
    }
    const double begin_s = ctx.stream->now();
    ctx.comm->transfer(std::array{Transfer{Transfer::send, x, 1}});
    seconds = ctx.stream->now() - begin_s;
    ctx.control->post(1, 0, 0);
  });
  return seconds;
}

TEST(MpiEagerSends, EndBeforeTheyArrive) {
  if (mpi_process().size != 2) GTEST_SKIP() << "a job of two processes";
  const double seconds = send_s(Transport::Protocol::eager);
  EXPECT_LT(seconds, kLatency_s / 2);
}

TEST(MpiEagerSends, OfARendezvousTransportEndWhenTheyShouldHaveArrived) {
  if (mpi_process().size != 2) GTEST_SKIP() << "a job of two processes";
  const double seconds = send_s(Transport::Protocol::rendezvous);
  if (mpi_process().rank != 0) return;
  EXPECT_GE(seconds, kLatency_s);
}

}  // namespace
}  // namespace trigram::test::eager_sends_test
