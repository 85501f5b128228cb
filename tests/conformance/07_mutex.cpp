// Mutexes of the streams of one rank: exclusive, first come, first served.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class MutexTest : public WorldTest {};
INSTANTIATE_TEST_SUITE_P(Conformance07, MutexTest, every_variant(1, 2, 4), world_test_name);

/// Returns when a task has reached its mutex.
void wait_until(const Context& ctx, const std::atomic<bool>& arrives) {
  while (!arrives) ctx.stream->sleep_for(1e-3);
  ctx.stream->sleep_for(0.1);  // longer than a task takes from the flag to the mutex
}

TEST_P(MutexTest, ExcludesTheOtherStreams) {
  run([](Context ctx) {
    auto mutex = ctx.stream->make_mutex();
    int inside = 0, entries = 0;
    const auto enter = [&](Context c) {
      for (int i = 0; i < 20; ++i) {
        Lock lock(*mutex);
        EXPECT_EQ(++inside, 1);
        if (i % 4 == 0) c.stream->sleep_for(1e-4);
        ++entries;
        --inside;
      }
    };
    auto a = ctx.stream->fork("a"), b = ctx.stream->fork("b");
    auto work_a = a->submit(ctx, enter), work_b = b->submit(ctx, enter);
    enter(ctx);
    ctx.stream->wait(*work_a);
    ctx.stream->wait(*work_b);
    EXPECT_EQ(entries, 60);
  });
}

TEST_P(MutexTest, ServesInTheOrderOfArrival) {
  run([](Context ctx) {
    auto mutex = ctx.stream->make_mutex();
    std::vector<int> order;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::shared_ptr<Work>> works;
    for (const char* name : {"a", "b", "c"}) streams.push_back(ctx.stream->fork(name));
    {
      Lock lock(*mutex);
      for (int i = 0; i < 3; ++i) {
        std::atomic<bool> arrives = false;
        works.push_back(streams[static_cast<std::size_t>(i)]->submit(ctx, [&, i](Context) {
          arrives = true;
          Lock mine(*mutex);
          order.push_back(i);
        }));
        wait_until(ctx, arrives);
      }
      order.push_back(-1);
    }
    for (auto& work : works) ctx.stream->wait(*work);
    EXPECT_EQ(order, (std::vector<int>{-1, 0, 1, 2}));
  });
}

TEST_P(MutexTest, AHandedOnMutexCannotBeSnatched) {
  run([](Context ctx) {  // the waiting stream gets the mutex between two turns of the main stream
    auto mutex = ctx.stream->make_mutex();
    auto other = ctx.stream->fork("other");
    bool entered = false;
    std::atomic<bool> arrives = false;
    mutex->lock();
    auto work = other->submit(ctx, [&](Context) {
      arrives = true;
      Lock lock(*mutex);
      entered = true;
    });
    wait_until(ctx, arrives);
    mutex->unlock();
    {
      Lock lock(*mutex);
      EXPECT_TRUE(entered);
    }
    ctx.stream->wait(*work);
  });
}

}  // namespace
}  // namespace trigram::test
