// The end of a simulated world after an error: on all ranks, with a helpful message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tests/support/in_child.h"
#include "tests/support/simulate.h"

namespace trigram::test::failures_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(SimFailures, an_exception_on_one_rank_ends_all_ranks) {
  EXPECT_EQ(failure_of(round_cluster(4),
                       [](const Context& ctx) {
                         ctx.stream->compute(1);
                         if (ctx.rank() == 2) throw std::runtime_error("rank 2 gave up");
                         receive_phantom(ctx, 2, 8);
                       }),
            "rank 2 gave up");
}

TEST(SimFailures, the_first_of_several_exceptions_is_reported) {
  EXPECT_EQ(failure_of(round_cluster(4),
                       [](const Context& ctx) {
                         ctx.stream->compute(4 - ctx.rank());
                         ctx.stream->synchronize();
                         throw std::runtime_error("rank " + std::to_string(ctx.rank()));
                       }),
            "rank 3");
}

TEST(SimFailures, an_exception_at_the_same_time_on_all_ranks_ends_the_world) {
  EXPECT_THAT(
      failure_of(round_cluster(64), [](const Context&) { throw std::runtime_error("everybody"); }),
      "everybody");
}

TEST(SimFailures, a_task_throws_at_whoever_waits_for_it) {
  in_child([] {
    make_sim_runtime({}, round_cluster(2))->launch(Layout(2, 1), [](const Context& ctx) {
      auto agent = ctx.stream->fork("agent");
      auto work = agent->submit(ctx, [](const Context& c) {
        c.stream->compute(1);
        throw std::runtime_error("in the task");
      });
      std::string message;
      try {
        ctx.stream->wait(*work);
      } catch (const std::runtime_error& e) {
        message = e.what();
      }
      EXPECT_EQ(message, "in the task");
      EXPECT_DOUBLE_EQ(ctx.stream->now(), 1);
      // The stream continues to work, and so does the rank.
      ctx.stream->wait(*agent->submit(ctx, [](const Context&) {}));
    });
  });
}

TEST(SimFailures, a_failed_task_that_nobody_waits_for_ends_the_world) {
  EXPECT_EQ(failure_of(round_cluster(2),
                       [](const Context& ctx) {
                         auto agent = ctx.stream->fork("agent");
                         agent->submit(ctx, [](const Context& c) {
                           if (c.rank() == 1) throw std::runtime_error("unseen");
                         });
                         ctx.stream->compute(1);
                       }),
            "unseen");
}

TEST(SimFailures, a_failed_task_explains_the_hang_that_it_causes) {
  EXPECT_EQ(failure_of(round_cluster(2),
                       [](const Context& ctx) {
                         auto agent = ctx.stream->fork("agent");
                         agent->submit(ctx, [](const Context& c) {
                           if (c.rank() == 1) throw std::runtime_error("the cause");
                           receive_phantom(c, 1, 8);
                         });
                         receive_phantom(ctx, 1 - ctx.rank(), 8);
                       }),
            "the cause");
}

TEST(SimFailures, the_main_stream_may_throw_while_its_agent_is_blocked) {
  // Streams are blocked in three ways, with locks and handles that must be unwound.
  EXPECT_EQ(failure_of(round_cluster(4),
                       [](const Context& ctx) {
                         auto mutex = ctx.stream->make_mutex();
                         auto agent = ctx.stream->fork("agent");
                         agent->submit(ctx, [&](const Context& c) {
                           Lock lock(*mutex);
                           if (c.rank() == 1) receive_phantom(c, 0, 8);
                           else if (c.rank() == 2) c.control->receive(0);
                           else c.stream->sleep_for(1e6);
                         });
                         ctx.stream->sleep_for(1);
                         if (ctx.rank() == 3) throw std::runtime_error("main gave up");
                         Lock lock(*mutex);
                       }),
            "main gave up");
}

TEST(SimFailures, a_forgotten_message_names_both_sides) {
  const std::string message = failure_of(round_cluster(4), [](const Context& ctx) {
    auto comm = ctx.stream->fork("comm");
    if (ctx.rank() == 3)
      ctx.stream->wait(*comm->submit(ctx, [](const Context& c) { receive_phantom(c, 2, 8); }));
    if (ctx.rank() == 0) send_phantom(ctx, 1, 8);
  });
  EXPECT_THAT(message, StartsWith("hang: "));
  EXPECT_THAT(message, HasSubstr("rank 3 waits for a message from rank 2 on stream comm"));
  EXPECT_THAT(message, HasSubstr("rank 3 waits for a task of stream comm on stream main"));
  EXPECT_THAT(message, HasSubstr("rank 0 waits for rank 1 to receive a message on stream main"));
  EXPECT_THAT(message, testing::Not(HasSubstr("rank 2 waits")));
}

TEST(SimFailures, a_hang_names_control_messages_and_mutexes) {
  const std::string message = failure_of(round_cluster(2), [](const Context& ctx) {
    auto mutex = ctx.stream->make_mutex();
    auto agent = ctx.stream->fork("agent");
    agent->submit(ctx, [&](const Context& c) {
      Lock lock(*mutex);
      c.control->receive(42);
    });
    ctx.stream->sleep_for(1);
    if (ctx.rank() == 1) Lock lock(*mutex);
    agent->synchronize();
  });
  EXPECT_THAT(message, HasSubstr("rank 0 waits for a control message with tag 42 on stream agent"));
  EXPECT_THAT(message, HasSubstr("rank 1 waits for a mutex on stream main"));
}

TEST(SimFailures, unequal_sizes_name_both_ranks) {
  const std::string message = failure_of(round_cluster(2), [](const Context& ctx) {
    if (ctx.rank() == 0) send_phantom(ctx, 1, 100);
    else receive_phantom(ctx, 0, 101);
  });
  EXPECT_THAT(message, HasSubstr("rank 0 sent 100 x u8"));
  EXPECT_THAT(message, HasSubstr("rank 1 expected 101 x u8"));
}

/// True if no other code writes to the stack frame of this function, which is where earlier calls
/// had their frames.
[[gnu::noinline]] bool stack_stays(const Context& ctx) {
  std::array<volatile unsigned char, 4096> frame;
  for (auto& byte : frame) byte = 0x5a;
  ctx.stream->sleep_for(1000);
  return std::all_of(frame.begin(), frame.end(), [](unsigned char byte) { return byte == 0x5a; });
}

TEST(SimFailures, a_message_that_arrives_after_its_batch_has_failed_touches_nothing) {
  const std::string message = failure_of(round_cluster(3), [](const Context& ctx) {
    if (ctx.rank() == 0) return send_phantom(ctx, 1, 100);
    if (ctx.rank() == 2) {
      ctx.stream->sleep_for(1);
      return send_phantom(ctx, 1, 8);
    }
    try {
      ctx.comm->transfer(std::vector<Transfer>{{Transfer::recv, phantom_bytes(101), 0},
                                               {Transfer::recv, phantom_bytes(8), 2}});
    } catch (const std::logic_error&) {
    }
    throw std::runtime_error(stack_stays(ctx) ? "intact" : "overwritten");
  });
  EXPECT_EQ(message, "intact");
}

TEST(SimFailures, using_another_streams_communicator_is_refused) {
  EXPECT_THAT(failure_of(round_cluster(1),
                         [](const Context& ctx) {
                           auto agent = ctx.stream->fork("agent");
                           ctx.stream->wait(*agent->submit(
                               ctx, [outer = ctx](const Context&) { send_phantom(outer, 0, 8); }));
                         }),
              HasSubstr("rank 0 uses stream main outside that stream"));
}

TEST(SimFailures, ranks_must_fork_the_same_streams) {
  EXPECT_THAT(
      failure_of(round_cluster(2),
                 [](const Context& ctx) { ctx.stream->fork(ctx.rank() == 0 ? "comm" : "agent"); }),
      HasSubstr("rank 1 forks stream agent where another rank forks stream comm"));
}

TEST(SimFailures, a_peer_outside_the_world_is_refused) {
  EXPECT_THAT(failure_of(round_cluster(2), [](const Context& ctx) { send_phantom(ctx, 2, 8); }),
              HasSubstr("addresses rank 2"));
}

TEST(SimFailures, another_layout_than_the_clusters_is_refused) {
  in_child([] {
    EXPECT_THROW(
        make_sim_runtime({}, round_cluster(2))->launch(Layout(1, 2), [](const Context&) {}),
        std::logic_error);
  });
}

TEST(SimFailures, a_process_simulates_once) {
  in_child([] {
    make_sim_runtime({}, round_cluster(1))->launch(Layout(1, 1), [](const Context&) {});
    EXPECT_THROW(
        make_sim_runtime({}, round_cluster(1))->launch(Layout(1, 1), [](const Context&) {}),
        std::logic_error);
  });
}

}  // namespace
}  // namespace trigram::test::failures_test
