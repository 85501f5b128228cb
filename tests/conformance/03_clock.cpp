// Time advances by at least the requested amount and never runs backwards, and no message arrives
// before it is sent.

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class Clock : public WorldTest {};
INSTANTIATE_TEST_SUITE_P(Conformance03, Clock, every_variant(1, 2, 4), world_test_name);

TEST_P(Clock, SleepingAndComputingTakeTheirTime) {
  run([this](Context ctx) {
    for (const auto spend : {&Stream::sleep_for, &Stream::compute}) {
      const double before = ctx.stream->now();
      (ctx.stream->*spend)(0.01);
      const double spent = ctx.stream->now() - before;
      EXPECT_GE(spent, 0.01 * (1 - 1e-9));
      if (simulated()) {
        EXPECT_NEAR(spent, 0.01, 1e-11);
      }
    }
  });
}

TEST_P(Clock, StartsAtZeroAndNeverRunsBackwards) {
  run([this](Context ctx) {
    double last = ctx.stream->now();
    EXPECT_GE(last, 0);
    if (simulated()) {
      EXPECT_EQ(last, 0);
    }
    for (int i = 0; i < 20; ++i) {
      ctx.stream->sleep_for(i % 2 == 0 ? 0 : 1e-4);
      ctx.stream->charge({.bytes = 1e6, .flops = 1e6});
      EXPECT_GE(ctx.stream->now(), last);
      last = ctx.stream->now();
    }
  });
}

TEST_P(Clock, ChargesTakeTimeInASimulationAlone) {
  run([this](Context ctx) {
    const Cost day{.bytes = 86400 * 900e9, .flops = 0};  // at the default accelerator's bandwidth
    const double before = ctx.stream->now();
    ctx.stream->charge(day);
    ctx.stream->sleep_for(1e-3);
    const double spent = ctx.stream->now() - before;
    if (simulated()) {
      EXPECT_NEAR(spent, 86400, 1);
    } else {
      EXPECT_LT(spent, 600);
    }
  });
}

TEST_P(Clock, MarksAreTimesOfTheSameClock) {
  run([](Context ctx) {
    const Tensor x = ctx.device->empty(1000);
    // The clocks of accelerator and host are matched only to within the time that a reading takes,
    // here at most 0.1 ms.
    double last_s = ctx.stream->now() - 1e-4;
    for (int i = 0; i < 10; ++i) {
      ctx.device->fill(x, 1);
      const auto mark = ctx.stream->mark();
      ctx.stream->synchronize();
      if (!mark) return;  // the stream does not issue to an accelerator
      ASSERT_TRUE(mark->known());
      EXPECT_GE(mark->seconds(), last_s);
      EXPECT_LE(mark->seconds(), ctx.stream->now() + 1e-4);
      last_s = mark->seconds();
    }
  });
}

TEST_P(Clock, NoMessageArrivesBeforeItIsSent) {
  run([](Context ctx) {
    const int last = ctx.size() - 1;
    const Tensor sent_at = ctx.device->empty(1);
    if (ctx.rank() == 0 && last > 0) {
      ctx.stream->sleep_for(0.02);
      ctx.device->fill(sent_at, static_cast<float>(ctx.stream->now()));
      ctx.comm->transfer(std::vector<Transfer>{{Transfer::send, sent_at, last}});
    } else if (ctx.rank() == last && last > 0) {
      ctx.comm->transfer(std::vector<Transfer>{{Transfer::recv, sent_at, 0}});
      const float sent_s = ctx.device->download(sent_at)[0];
      EXPECT_GE(ctx.stream->now(), sent_s * (1 - 1e-6f));
    }
  });
}

}  // namespace
}  // namespace trigram::test
