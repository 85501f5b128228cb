// The control plane of the simulated world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/in_child.h"
#include "tests/support/simulate.h"

namespace trigram::test::control_test {
namespace {

using testing::ElementsAre;

/// Runs `body` in a child on `cluster` and expects it to succeed.
void run(const Cluster& cluster, const Task& body) {
  in_child([&] { make_sim_runtime({}, cluster)->launch(cluster.layout(), body); });
}

TEST(SimControl, a_message_takes_the_latency_of_its_route) {
  run(round_cluster(2, 2), [](const Context& ctx) {
    if (ctx.rank() == 0) {
      ctx.stream->compute(1);
      ctx.control->post(1, 7, 11, 12);
      ctx.control->post(2, 7, 21);
      EXPECT_DOUBLE_EQ(ctx.stream->now(), 1);  // posting takes no time
    } else if (ctx.rank() < 3) {
      const auto message = ctx.control->receive(7);
      ASSERT_TRUE(message);
      EXPECT_EQ(message->source, 0);
      EXPECT_EQ(message->a, ctx.rank() == 1 ? 11 : 21);
      EXPECT_EQ(message->b, ctx.rank() == 1 ? 12 : 0);
      EXPECT_NEAR(ctx.stream->now(), 1 + (ctx.rank() == 1 ? 1e-6 : 10e-6), 1e-12);
    }
  });
}

TEST(SimControl, messages_of_one_source_stay_in_order) {
  run(round_cluster(2), [](const Context& ctx) {
    constexpr int kCount = 100;  // more than a heap would keep in order by chance
    if (ctx.rank() == 0)
      for (int i = 0; i < kCount; ++i) ctx.control->post(1, 0, i);
    else
      for (int i = 0; i < kCount; ++i) ASSERT_EQ(ctx.control->receive(0)->a, i);
  });
}

TEST(SimControl, messages_are_received_in_the_order_of_arrival) {
  run(round_cluster(2, 2), [](const Context& ctx) {
    if (ctx.rank() == 3) {
      std::vector<int> sources;
      for (int i = 0; i < 3; ++i) sources.push_back(ctx.control->receive(0)->source);
      EXPECT_THAT(sources, ElementsAre(2, 1, 0));
    } else {
      // Rank 2 is the last to post, but its message has the shortest way. Rank 1 posts before rank
      // 0.
      ctx.stream->compute(ctx.rank() == 2 ? 5e-6 : ctx.rank() == 1 ? 1e-6 : 2e-6);
      ctx.control->post(3, 0, 0);
    }
  });
}

TEST(SimControl, tags_are_separate_and_messages_to_oneself_arrive_at_once) {
  run(round_cluster(1), [](const Context& ctx) {
    ctx.control->post(0, 1, 10);
    ctx.control->post(0, 2, 20);
    EXPECT_EQ(ctx.control->poll(2)->a, 20);
    EXPECT_FALSE(ctx.control->poll(2));
    EXPECT_EQ(ctx.control->receive(1)->a, 10);
    EXPECT_EQ(ctx.stream->now(), 0);
  });
}

TEST(SimControl, polling_sees_what_has_arrived_by_now) {
  run(round_cluster(2), [](const Context& ctx) {
    if (ctx.rank() == 0) return ctx.control->post(1, 0, 1);
    EXPECT_FALSE(ctx.control->poll(0));
    ctx.stream->compute(9e-6);
    EXPECT_FALSE(ctx.control->poll(0));
    ctx.stream->compute(2e-6);
    EXPECT_TRUE(ctx.control->poll(0));
  });
}

TEST(SimControl, a_message_waits_for_its_stream_to_be_forked) {
  run(round_cluster(2), [](const Context& ctx) {
    if (ctx.rank() == 1) ctx.stream->sleep_for(1);
    auto agent = ctx.stream->fork("agent");
    ctx.stream->wait(*agent->submit(ctx, [](const Context& c) {
      if (c.rank() == 0) c.control->post(1, 0, 5);
      else EXPECT_EQ(c.control->receive(0)->a, 5);
    }));
  });
}

TEST(SimControl, a_receiver_gets_nothing_when_its_stream_is_closed) {
  run(round_cluster(1), [](const Context& ctx) {
    auto agent = ctx.stream->fork("agent");
    agent->submit(ctx, [](const Context& c) {
      EXPECT_FALSE(c.control->receive(0));
      EXPECT_DOUBLE_EQ(c.stream->now(), 1);
    });
    ctx.stream->compute(1);
  });
}

TEST(SimControl, messages_do_not_load_the_links) {
  const auto times = simulate(round_cluster(2), [](const Context& ctx) {
    for (int i = 0; i < 1000; ++i) ctx.control->post(1 - ctx.rank(), 0, i);
    message_from_0_to_1(ctx, 1'000'000);
    return ctx.stream->now();
  });
  EXPECT_NEAR(times.at(1), 10e-6 + 1e-3, 1e-12);
}

}  // namespace
}  // namespace trigram::test::control_test
