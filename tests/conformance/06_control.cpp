// The control plane: small messages from any source, in order per tag and source.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class ControlTest : public WorldTest {};
INSTANTIATE_TEST_SUITE_P(Conformance06, ControlTest, every_variant(1, 2, 3, 8), world_test_name);

TEST_P(ControlTest, MessagesArriveFromEverySource) {
  run([](Context ctx) {
    for (int dest = 0; dest < ctx.size(); ++dest)
      ctx.control->post(dest, 1, ctx.rank() * 100 + dest, -ctx.rank());
    std::vector<int> sources;
    for (int i = 0; i < ctx.size(); ++i) {
      const auto message = ctx.control->receive(1);
      ASSERT_TRUE(message.has_value());
      EXPECT_EQ(message->a, message->source * 100 + ctx.rank());
      EXPECT_EQ(message->b, -message->source);
      sources.push_back(message->source);
    }
    std::sort(sources.begin(), sources.end());
    for (int i = 0; i < ctx.size(); ++i) EXPECT_EQ(sources[static_cast<std::size_t>(i)], i);
  });
}

TEST_P(ControlTest, KeepsTheOrderOfEachSource) {
  run([](Context ctx) {
    constexpr int kCount = 50;
    for (int i = 0; i < kCount; ++i)
      for (int dest = 0; dest < ctx.size(); ++dest) ctx.control->post(dest, 1, i);
    std::vector<std::int64_t> expected(static_cast<std::size_t>(ctx.size()), 0);
    for (int i = 0; i < kCount * ctx.size(); ++i) {
      const auto message = ctx.control->receive(1);
      ASSERT_TRUE(message.has_value());
      EXPECT_EQ(message->a, expected[static_cast<std::size_t>(message->source)]++);
    }
  });
}

TEST_P(ControlTest, TagsAreQueuesOfTheirOwn) {
  run([](Context ctx) {
    const int next = (ctx.rank() + 1) % ctx.size();
    for (int tag : {1, 2, -3}) ctx.control->post(next, tag, tag);
    for (int tag : {-3, 2, 1}) {
      const auto message = ctx.control->receive(tag);
      ASSERT_TRUE(message.has_value());
      EXPECT_EQ(message->a, tag);
      EXPECT_FALSE(ctx.control->poll(tag).has_value());
    }
  });
}

TEST_P(ControlTest, PollFindsWhatHasArrivedAndNeverBlocks) {
  run([](Context ctx) {
    EXPECT_FALSE(ctx.control->poll(6).has_value());
    ctx.control->post((ctx.rank() + 1) % ctx.size(), 5, 42);
    std::optional<Message> message;
    for (int i = 0; i < 10000 && !message; ++i) {
      ctx.stream->sleep_for(1e-3);
      message = ctx.control->poll(5);
    }
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(message->a, 42);
  });
}

TEST_P(ControlTest, StreamsHaveControlPlanesOfTheirOwn) {
  run([](Context ctx) {
    auto agent = ctx.stream->fork("agent");
    auto work = agent->submit(ctx, [](Context c) {
      c.control->post((c.rank() + 1) % c.size(), 1, 10);
      const auto message = c.control->receive(1);
      ASSERT_TRUE(message.has_value());
      EXPECT_EQ(message->a, 10);
    });
    ctx.control->post((ctx.rank() + 1) % ctx.size(), 1, 20);
    const auto message = ctx.control->receive(1);
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(message->a, 20);
    ctx.stream->wait(*work);
  });
}

TEST_P(ControlTest, ReceiveComesBackEmptyWhenItsStreamIsClosed) {
  const auto ended = results_in_world(world(), flat_cluster(ranks()), [](Context ctx) {
    auto state = std::make_shared<std::atomic<int>>(0);
    {
      auto agent = ctx.stream->fork("agent");
      agent->submit(ctx, [state](Context c) {
        while (c.control->receive(1)) ++*state;
        *state += 100;
      });
      ctx.stream->sleep_for(0.002);
    }
    ctx.stream->sleep_for(0.01);
    return std::to_string(state->load());
  });
  for (const std::string& state : ended) EXPECT_EQ(state, "100");
}

/// The agent of every rank serves numbers to the other ranks, like a parameter server.
TEST_P(ControlTest, AgentsServeRequestsUntilTheyAreClosed) {
  run([](Context ctx) {
    constexpr int kRequest = 1, kReply = 2, kRounds = 20;
    auto client = ctx.stream->fork("client");
    auto work = client->submit(ctx, [&](Context c) {
      std::int64_t served = 0, received = 0;
      for (int i = 0; i < kRounds; ++i) c.control->post(0, kRequest, c.rank());
      if (c.rank() == 0)
        for (; served < kRounds * c.size(); ++served) {
          const auto request = c.control->receive(kRequest);
          ASSERT_TRUE(request.has_value());
          c.control->post(request->source, kReply, served);
        }
      std::int64_t previous = -1;
      for (; received < kRounds; ++received) {
        const auto reply = c.control->receive(kReply);
        ASSERT_TRUE(reply.has_value());
        EXPECT_EQ(reply->source, 0);
        EXPECT_GT(reply->a, previous);
        previous = reply->a;
      }
    });
    ctx.stream->wait(*work);
  });
}

/// The main stream and the agent wake each other through the control planes of their own rank.
TEST_P(ControlTest, StreamsOfARankMayPostToIt) {
  run([](Context ctx) {
    constexpr int kRounds = 20, kTag = 3;
    auto agent_control = std::make_shared<std::atomic<Control*>>(nullptr);
    auto agent = ctx.stream->fork("agent");
    Control* const main_control = ctx.control;
    ctx.stream->wait(*agent->submit(ctx, [=](Context c) { *agent_control = c.control; }));
    auto work = agent->submit(ctx, [=](Context c) {
      for (int i = 0; i < kRounds; ++i) {
        const auto message = c.control->receive(kTag);
        ASSERT_TRUE(message.has_value());
        EXPECT_EQ(message->source, c.world_rank);
        EXPECT_EQ(message->a, i);
        c.stream->sleep_for(1e-4);
        main_control->post(c.world_rank, kTag, 10 * i);
      }
    });
    for (int i = 0; i < kRounds; ++i) {
      const double before_s = ctx.stream->now();
      agent_control->load()->post(ctx.world_rank, kTag, i);
      const auto message = ctx.control->receive(kTag);
      ASSERT_TRUE(message.has_value());
      EXPECT_EQ(message->a, 10 * i);
      EXPECT_GE(ctx.stream->now() - before_s, 0.99e-4);
    }
    ctx.stream->wait(*work);
  });
}

TEST_P(ControlTest, OnlyItsStreamPostsToOtherRanks) {
  const WorldError e = error([](Context ctx) {
    if (ctx.size() == 1) ctx.control->post(1, 1, 0);  // this post is also refused
    auto agent = ctx.stream->fork("agent");
    Control* const control = ctx.control;
    ctx.stream->wait(
        *agent->submit(ctx, [=](Context c) { control->post((c.rank() + 1) % c.size(), 1, 0); }));
  });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
}

TEST_P(ControlTest, RefusesADestinationOutsideTheWorld) {
  const WorldError e = error([](Context ctx) { ctx.control->post(ctx.size(), 1, 0); });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
}

}  // namespace
}  // namespace trigram::test
