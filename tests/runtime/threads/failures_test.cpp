// Threads can fail at any time. Whatever the other threads are doing, the world ends with that
// error.

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "runtime/threads/threads_runtime.h"

namespace trigram::failures_test {
namespace {

constexpr int kRanks = 5;

/// With messages that are as fast as memory, and with messages on an emulated network.
class ThreadsFailures : public ::testing::TestWithParam<ThreadsOptions::Shaping> {
 protected:
  void launch(int ranks, const Task& rank_main) const {
    Cluster cluster;
    cluster.nodes = ranks;
    cluster.inter = {100e6, 20e-6};
    make_threads_runtime({.shaping = GetParam(), .watchdog_s = 5}, cluster)
        ->launch(cluster.layout(), rank_main);
  }
};
INSTANTIATE_TEST_SUITE_P(Shaping, ThreadsFailures,
                         ::testing::Values(ThreadsOptions::Shaping::none,
                                           ThreadsOptions::Shaping::cluster),
                         [](const auto& tested) {
                           return tested.param == ThreadsOptions::Shaping::none ? "none"
                                                                                : "cluster";
                         });

/// Messages in both directions around a ring, a reduction in place, and a control message.
void one_round(Context ctx) {
  const int next = (ctx.rank() + 1) % ctx.size();
  const int previous = (ctx.rank() + ctx.size() - 1) % ctx.size();
  const Tensor x = ctx.device->empty(2000), y = ctx.device->empty(2000);
  ctx.device->fill(x, static_cast<float>(ctx.rank()));
  ctx.comm->transfer(
      std::array{Transfer{Transfer::send, x, next}, Transfer{Transfer::recv, x, next},
                 Transfer{Transfer::send, x, previous}, Transfer{Transfer::recv, y, previous}});
  ctx.device->axpby(1, x, 1, y);
  ctx.control->post(next, 1, 0);
  ctx.control->receive(1);
}

/// Rank `culprit` fails in the given round, on its main stream or on the forked one.
void fail_in(Context ctx, int culprit, int round, bool on_main) {
  auto mutex = ctx.stream->make_mutex();
  const auto rounds = [&](Context c, bool fails) {
    for (int i = 0; i < 40; ++i) {
      if (fails && i == round) throw std::out_of_range("round " + std::to_string(i));
      one_round(c);
      Lock lock(*mutex);
      if (i % 10 == 0) c.stream->sleep_for(1e-6);
    }
  };
  const bool is_culprit = ctx.rank() == culprit;
  auto comm = ctx.stream->fork("comm");
  auto work = comm->submit(ctx, [&](Context c) { rounds(c, is_culprit && !on_main); });
  rounds(ctx, is_culprit && on_main);
  ctx.stream->wait(*work);
}

TEST_P(ThreadsFailures, EndTheWorldAtAnyTime) {
  for (int attempt = 0; attempt < 120; ++attempt) {
    const int culprit = attempt % kRanks, round = attempt % 37;
    try {
      launch(kRanks, [&](Context ctx) { fail_in(ctx, culprit, round, attempt % 2 == 0); });
      ADD_FAILURE() << "attempt " << attempt << " did not fail";
    } catch (const std::out_of_range& e) {
      EXPECT_EQ(e.what(), "round " + std::to_string(round));
    }
  }
}

TEST_P(ThreadsFailures, OnAllRanksEndTheWorldWithOneError) {
  for (int attempt = 0; attempt < 20; ++attempt)
    EXPECT_THROW(launch(kRanks,
                        [&](Context ctx) {
                          one_round(ctx);
                          throw std::out_of_range("all of them");
                        }),
                 std::out_of_range);
}

TEST_P(ThreadsFailures, AfterTransferHasThrownLeaveBuffersUnchanged) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    EXPECT_THROW(launch(2,
                        [&](Context ctx) {
                          const Tensor x = ctx.device->empty(100000);
                          if (ctx.rank() == 0) {
                            ctx.device->fill(x, 1);
                            auto comm = ctx.stream->fork("comm");
                            comm->submit(ctx, [](Context) { throw std::out_of_range("now"); });
                            ctx.comm->transfer(std::array{Transfer{Transfer::send, x, 1}});
                            return;
                          }
                          auto comm = ctx.stream->fork("comm");
                          try {
                            ctx.comm->transfer(std::array{Transfer{Transfer::recv, x, 0}});
                          } catch (...) {
                            // A copy that comes late would be a race, and would change this.
                            ctx.device->fill(x, 2);
                            for (float value : x.floats()) EXPECT_EQ(value, 2.0f);
                            throw;
                          }
                        }),
                 std::out_of_range);
  }
}

TEST(ThreadsWorld, CanBeLaunchedAgain) {
  auto runtime = make_threads_runtime({.watchdog_s = 5});
  EXPECT_THROW(runtime->launch(Layout(3, 1), [](Context) { throw std::out_of_range("once"); }),
               std::out_of_range);
  int count = 0;
  runtime->launch(Layout(1, 1), [&](Context) { ++count; });
  EXPECT_EQ(count, 1);
}

TEST(ThreadsWorld, ReportsASwallowedErrorThatClosedAStream) {
  EXPECT_THROW(make_threads_runtime()->launch(Layout(1, 1),
                                              [](Context ctx) {
                                                try {
                                                  auto comm = ctx.stream->fork("comm");
                                                  throw std::out_of_range("swallowed");
                                                } catch (const std::out_of_range&) {
                                                }
                                              }),
               std::logic_error);
}

}  // namespace
}  // namespace trigram::failures_test
