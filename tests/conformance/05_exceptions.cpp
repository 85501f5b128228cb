// An exception on any stream of any rank ends the world on all ranks with that exception.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class Exceptions : public WorldTest {
 protected:
  /// Expects that the world ends with the failure that `fail()` throws.
  void expect_failure(const Task& rank_main) {
    const WorldError e = error(rank_main);
    EXPECT_EQ(e.kind, WorldError::out_of_range) << e.text;
    EXPECT_EQ(e.text, "the batch has no sample 7");
  }
};
INSTANTIATE_TEST_SUITE_P(Conformance05, Exceptions, every_variant(1, 2, 4, 7), world_test_name);

[[noreturn]] void fail() { throw std::out_of_range("the batch has no sample 7"); }
int last(const Context& ctx) { return ctx.size() - 1; }
void receive_data(const Context& ctx, int peer) {
  ctx.comm->transfer(std::array{Transfer{Transfer::recv, ctx.device->empty(10), peer}});
}
void send_data(const Context& ctx, int peer) {
  ctx.comm->transfer(std::array{Transfer{Transfer::send, ctx.device->empty(10), peer}});
}

TEST_P(Exceptions, WakeWhoeverBlocks) {
  const std::vector<std::function<void(Context)>> blocks = {
      [](Context c) { receive_data(c, last(c)); },
      [](Context c) { send_data(c, last(c)); },
      [](Context c) { c.control->receive(3); },
      [](Context c) { c.stream->sleep_for(1e6); },
      [](Context c) {
        auto mutex = c.stream->make_mutex();
        Lock once(*mutex);
        Lock twice(*mutex);
      },
      [](Context c) {
        auto agent = c.stream->fork("agent");
        auto work = agent->submit(c, [](Context d) { d.control->receive(3); });
        c.stream->wait(*work);
      },
  };
  for (const auto& block : blocks)
    expect_failure([&](Context ctx) {
      if (ctx.rank() == last(ctx)) {
        ctx.stream->sleep_for(0.005);
        fail();
      }
      block(ctx);
    });
}

TEST_P(Exceptions, OfATaskReachWhoWaits) {
  expect_failure([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    auto work = comm->submit(ctx, [](Context c) {
      if (c.rank() == last(c)) fail();
    });
    bool caught = false;
    try {
      ctx.stream->wait(*work);
    } catch (const std::out_of_range&) {
      caught = true;
    }
    if (ctx.rank() == last(ctx)) {
      EXPECT_TRUE(caught);
      fail();
    }
    ctx.control->receive(1);
  });
}

TEST_P(Exceptions, OfATaskThatNobodyWaitsForFailTheWorld) {
  expect_failure([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    if (ctx.rank() == last(ctx)) comm->submit(ctx, [](Context) { fail(); });
  });
}

TEST_P(Exceptions, OfATaskWakeTheMainStreams) {
  expect_failure([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    comm->submit(ctx, [](Context c) {
      c.stream->sleep_for(0.002);
      if (c.rank() == last(c)) fail();
    });
    receive_data(ctx, last(ctx));  // that rank never sends
  });
}

TEST_P(Exceptions, OfTheMainStreamWakeItsBlockedAgent) {
  expect_failure([](Context ctx) {
    auto mutex = ctx.stream->make_mutex();
    auto agent = ctx.stream->fork("agent");
    auto comm = ctx.stream->fork("comm");
    agent->submit(ctx, [](Context c) { receive_data(c, last(c)); });
    comm->submit(ctx, [](Context c) { c.control->receive(3); });
    ctx.stream->sleep_for(0.002);
    if (ctx.rank() == last(ctx)) fail();
    Lock lock(*mutex);
    ctx.control->receive(1);
  });
}

struct Counted {
  explicit Counted(std::atomic<int>& c) : count(c) { ++count; }
  ~Counted() { --count; }
  std::atomic<int>& count;
};

TEST_P(Exceptions, UnwindTheTasksThatTheyWake) {
  if (simulated()) GTEST_SKIP() << "simulated streams end where they stand, with their process";
  std::atomic<int> alive = 0;
  expect_failure([&](Context ctx) {
    Counted on_main(alive);
    auto agent = ctx.stream->fork("agent");
    agent->submit(ctx, [&](Context c) {
      Counted on_agent(alive);
      c.control->receive(3);
    });
    ctx.stream->sleep_for(0.002);
    if (ctx.rank() == last(ctx)) fail();
    ctx.control->receive(1);
  });
  EXPECT_EQ(alive, 0);
}

TEST_P(Exceptions, MayBeOfAnyType) {
  const WorldError e = error([](Context ctx) {
    if (ctx.rank() == 0) throw std::runtime_error("loss is NaN at step 3 on rank 0");
    receive_data(ctx, 0);
  });
  EXPECT_EQ(e.kind, WorldError::other);
  EXPECT_EQ(e.text, "loss is NaN at step 3 on rank 0");
}

}  // namespace
}  // namespace trigram::test
