// Forked streams run their tasks in order, concurrently with the main stream, and have their own
// data plane.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class Streams : public WorldTest {};
INSTANTIATE_TEST_SUITE_P(Conformance04, Streams, every_variant(1, 2, 4, 7), world_test_name);

TEST_P(Streams, TasksRunOneAfterTheOther) {
  run([](Context ctx) {
    std::vector<int> order;  // written by the forked stream, read after waiting
    auto comm = ctx.stream->fork("comm");
    std::shared_ptr<Work> last;
    for (int i = 0; i < 100; ++i)
      last = comm->submit(ctx, [&order, i](Context) { order.push_back(i); });
    ctx.stream->wait(*last);
    ASSERT_EQ(order.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    ctx.stream->wait(*last);    // a second time
    ctx.stream->synchronize();  // on an accelerator, a wait only orders later work
    EXPECT_TRUE(last->done());
  });
}

TEST_P(Streams, ATaskSeesItsOwnStreamOfTheSameRank) {
  run([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    EXPECT_EQ(comm->name(), "comm");
    auto work = comm->submit(ctx, [&ctx](Context c) {
      EXPECT_EQ(c.stream->name(), "comm");
      EXPECT_EQ(c.world_rank, ctx.world_rank);
      EXPECT_EQ(c.world_size, ctx.world_size);
      EXPECT_EQ(c.rank(), ctx.world_rank);
      EXPECT_EQ(c.size(), ctx.world_size);
      EXPECT_EQ(c.layout->ranks(), ctx.layout->ranks());
      EXPECT_NE(c.comm, ctx.comm);
      EXPECT_NE(c.control, ctx.control);
      expect_unique_values(c, unique_tensor(c, 10, c.rank()), c.rank());
    });
    ctx.stream->wait(*work);
  });
}

TEST_P(Streams, WaitingOrdersWhatTheTaskDid) {
  run([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    const Tensor x = ctx.device->empty(1000);
    for (int round = 0; round < 20; ++round) {
      ctx.device->fill(x, static_cast<float>(round));
      auto work = comm->submit(ctx, [&](Context c) { c.device->axpby(1, x, 1, x); });
      ctx.stream->wait(*work);
      for (float value : ctx.device->download(x))
        ASSERT_EQ(value, 2.0f * static_cast<float>(round));
    }
  });
}

TEST_P(Streams, ATaskSeesWhatItsSubmitterHasIssued) {
  run([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    const Tensor x = ctx.device->empty(100'000);
    for (int round = 0; round < 20; ++round) {
      // On an accelerator, these operations form a queue that the task's own operations could
      // overtake.
      for (int i = 0; i < 10; ++i) ctx.device->fill(x, -1);
      ctx.device->fill(x, static_cast<float>(round));
      auto work = comm->submit(ctx, [&](Context c) {
        for (float value : c.device->download(x)) ASSERT_EQ(value, static_cast<float>(round));
      });
      ctx.stream->wait(*work);
    }
  });
}

TEST_P(Streams, StreamsOverlap) {
  run([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    double least = 1;
    for (int i = 0; i < 10 && least > 0.9; ++i) {  // a busy machine may delay one or the other
      const double before = ctx.stream->now();
      auto work = comm->submit(ctx, [](Context c) { c.stream->sleep_for(0.2); });
      ctx.stream->sleep_for(0.2);
      ctx.stream->wait(*work);
      least = std::min(least, (ctx.stream->now() - before) / (0.2 + 0.2));
    }
    EXPECT_LT(least, 0.9);
  });
}

/// Sends unique values of rank + offset around the ring, several times.
void ring_rounds(const Context& ctx, int offset) {
  for (int round = 0; round < 20; ++round) {
    const int source = (ctx.rank() + ctx.size() - 1) % ctx.size();
    const Tensor in = ctx.device->empty(64);
    ctx.comm->transfer(
        std::array{Transfer{Transfer::send, unique_tensor(ctx, 64, ctx.rank() + offset),
                            (ctx.rank() + 1) % ctx.size()},
                   Transfer{Transfer::recv, in, source}});
    expect_unique_values(ctx, in, source + offset);
  }
}

TEST_P(Streams, MessagesOfDifferentStreamsDoNotMix) {
  run([](Context ctx) {
    auto a = ctx.stream->fork("a"), b = ctx.stream->fork("b");
    auto work_a = a->submit(ctx, [](Context c) { ring_rounds(c, 10); });
    auto work_b = b->submit(ctx, [](Context c) { ring_rounds(c, 20); });
    ring_rounds(ctx, 30);
    ctx.stream->wait(*work_a);
    ctx.stream->wait(*work_b);
  });
}

TEST_P(Streams, ForksOfForksAndEqualNamesAreDifferentStreams) {
  run([](Context ctx) {
    auto first = ctx.stream->fork("comm"), second = ctx.stream->fork("comm");
    auto outer = first->submit(ctx, [](Context c) {
      auto inner = c.stream->fork("comm");
      auto work = inner->submit(c, [](Context d) { ring_rounds(d, 40); });
      ring_rounds(c, 10);
      c.stream->wait(*work);
    });
    auto work = second->submit(ctx, [](Context c) { ring_rounds(c, 20); });
    ctx.stream->wait(*outer);
    ctx.stream->wait(*work);
  });
}

TEST_P(Streams, AStreamMayWaitForAnother) {
  run([](Context ctx) {
    int value = 0;
    auto a = ctx.stream->fork("a"), b = ctx.stream->fork("b");
    auto first = a->submit(ctx, [&](Context c) {
      c.stream->sleep_for(0.002);
      value = 1;
    });
    auto second = b->submit(ctx, [&](Context c) {
      c.stream->wait(*first);
      value = 2 * value + 1;
    });
    ctx.stream->wait(*second);
    EXPECT_EQ(value, 3);
  });
}

TEST_P(Streams, SynchronizeWaitsForAllTasks) {
  run([](Context ctx) {
    int done = 0;
    auto comm = ctx.stream->fork("comm");
    for (int i = 0; i < 5; ++i)
      comm->submit(ctx, [&](Context c) {
        c.stream->sleep_for(0.001);
        ++done;
      });
    comm->synchronize();
    EXPECT_EQ(done, 5);
    ctx.stream->synchronize();
  });
}

TEST_P(Streams, AClosedStreamFinishesItsTasks) {
  const auto done = results_in_world(world(), flat_cluster(ranks()), [](Context ctx) {
    auto count = std::make_shared<std::atomic<int>>(0);
    {
      auto comm = ctx.stream->fork("comm");
      for (int i = 0; i < 5; ++i)
        comm->submit(ctx, [count](Context c) {
          c.stream->sleep_for(0.001);
          ++*count;
        });
    }
    ctx.stream->sleep_for(0.1);  // a simulated stream closes at its own time
    return std::to_string(count->load());
  });
  for (const std::string& count : done) EXPECT_EQ(count, "5");
}

TEST_P(Streams, ForeignStreamsMayNotBeUsed) {
  const WorldError e = error([](Context ctx) {
    auto comm = ctx.stream->fork("comm");
    const Tensor x = Tensor::phantom(1, DType::f32, 1);
    auto work = comm->submit(ctx, [&ctx, x](Context) {
      ctx.comm->transfer(std::array{Transfer{Transfer::send, x, ctx.rank()},
                                    Transfer{Transfer::recv, x, ctx.rank()}});
    });
    ctx.stream->wait(*work);
  });
  EXPECT_EQ(e.kind, WorldError::invariant);
  EXPECT_NE(e.text.find("uses stream main outside that stream"), e.text.npos) << e.text;
}

TEST_P(Streams, AllRanksMustForkTheSameStreams) {
  if (ranks() == 1) GTEST_SKIP() << "takes two ranks";
  const WorldError e = error([](Context ctx) {
    auto stream = ctx.stream->fork(ctx.rank() == ctx.size() - 1 ? "agent" : "comm");
    ctx.control->receive(1);
  });
  EXPECT_EQ(e.kind, WorldError::invariant);
  EXPECT_NE(e.text.find("forks stream "), e.text.npos) << e.text;
  EXPECT_NE(e.text.find("agent"), e.text.npos) << e.text;
  EXPECT_NE(e.text.find("comm"), e.text.npos) << e.text;
}

}  // namespace
}  // namespace trigram::test
