// Streams, their clocks, and mutexes in the simulated world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/in_child.h"
#include "tests/support/simulate.h"

namespace trigram::test::streams_test {
namespace {

using testing::ElementsAre;

double alone(const std::function<double(const Context&)>& body) {
  return simulate(round_cluster(1), body).at(0);
}

TEST(SimStreams, time_starts_at_zero_and_without_charges_does_not_pass) {
  EXPECT_EQ(alone([](const Context& ctx) {
              ctx.stream->charge({});
              ctx.stream->compute(0);
              ctx.stream->synchronize();
              return ctx.stream->now();
            }),
            0);
}

TEST(SimStreams, a_charge_costs_the_larger_of_memory_and_arithmetic_time) {
  // The accelerator has 100 GB/s and 1 Tflop/s.
  EXPECT_DOUBLE_EQ(alone([](const Context& ctx) {
                     ctx.stream->charge({.bytes = 200e9, .flops = 1e12});
                     ctx.stream->charge({.bytes = 100e9, .flops = 3e12});
                     return ctx.stream->now();
                   }),
                   5);
}

TEST(SimStreams, a_charge_costs_the_launch_overhead_too) {
  Cluster cluster = round_cluster(1);
  cluster.accelerator.launch_overhead_s = 0.25;
  EXPECT_DOUBLE_EQ(simulate(cluster,
                            [](const Context& ctx) {
                              for (int i = 0; i < 4; ++i) ctx.stream->charge({.flops = 1e12});
                              return ctx.stream->now();
                            })
                       .at(0),
                   5);
}

TEST(SimStreams, computation_overlaps_with_messages_of_another_stream) {
  const auto times = simulate(round_cluster(2), [](const Context& ctx) {
    auto comm = ctx.stream->fork("comm");
    ctx.stream->compute(1);
    auto exchange = comm->submit(ctx, [](const Context& c) {
      EXPECT_EQ(c.stream->name(), "comm");
      EXPECT_DOUBLE_EQ(c.stream->now(), 1);  // not before the earlier computation
      const int peer = 1 - c.rank();
      c.comm->transfer(std::vector<Transfer>{{Transfer::send, phantom_bytes(2'000'000'000), peer},
                                             {Transfer::recv, phantom_bytes(2'000'000'000), peer}});
    });
    EXPECT_FALSE(exchange->done());
    ctx.stream->compute(1.5);
    ctx.stream->wait(*exchange);
    EXPECT_TRUE(exchange->done());
    ctx.stream->compute(0.5);
    return ctx.stream->now();
  });
  for (const double t : times) EXPECT_NEAR(t, 1 + 2 + 10e-6 + 0.5, 1e-9);
}

TEST(SimStreams, tasks_run_in_the_order_of_submission) {
  in_child([] {
    std::vector<int> order;
    make_sim_runtime({}, round_cluster(1))->launch(Layout(1, 1), [&](const Context& ctx) {
      auto agent = ctx.stream->fork("agent");
      std::vector<std::shared_ptr<Work>> works;
      for (int i = 0; i < 5; ++i)
        works.push_back(agent->submit(ctx, [&order, i](const Context& c) {
          c.stream->compute(5 - i);
          order.push_back(i);
        }));
      ctx.stream->wait(*works[1]);
      EXPECT_DOUBLE_EQ(ctx.stream->now(), 9);
      agent->synchronize();
      EXPECT_DOUBLE_EQ(ctx.stream->now(), 15);
    });
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
  });
}

TEST(SimStreams, done_answers_as_of_the_asking_streams_own_time) {
  alone([](const Context& ctx) {
    auto agent = ctx.stream->fork("agent");
    auto work = agent->submit(ctx, [](const Context& c) { c.stream->compute(1); });
    ctx.stream->compute(0.5);
    EXPECT_FALSE(work->done());
    ctx.stream->compute(1);
    EXPECT_TRUE(work->done());
    return 0.0;
  });
}

TEST(SimStreams, a_closed_stream_finishes_its_tasks) {
  in_child([] {
    int ran = 0;
    make_sim_runtime({}, round_cluster(1))->launch(Layout(1, 1), [&](const Context& ctx) {
      auto agent = ctx.stream->fork("agent");
      for (int i = 0; i < 3; ++i)
        agent->submit(ctx, [&](const Context& c) {
          c.stream->compute(1);
          ++ran;
        });
    });
    EXPECT_EQ(ran, 3);
  });
}

TEST(SimStreams, streams_fork_streams) {
  const auto times = simulate(round_cluster(2), [](const Context& ctx) {
    auto outer = ctx.stream->fork("outer");
    double inner_time = 0;
    ctx.stream->wait(*outer->submit(ctx, [&](const Context& c) {
      auto inner = c.stream->fork("inner");
      c.stream->wait(*inner->submit(c, [&](const Context& i) {
        message_from_0_to_1(i, 0);
        inner_time = i.stream->now();
      }));
    }));
    return inner_time;
  });
  EXPECT_NEAR(times.at(1), 10e-6, 1e-15);
}

TEST(SimStreams, messages_of_different_streams_do_not_mix) {
  in_child([] {
    make_sim_runtime({}, round_cluster(2))->launch(Layout(2, 1), [&](const Context& ctx) {
      auto exchange = [](const Context& c, float value) {
        Tensor x = c.device->empty(1);
        x.floats()[0] = value;
        c.comm->transfer(std::vector<Transfer>{
            {c.rank() == 0 ? Transfer::send : Transfer::recv, x, 1 - c.rank()}});
        EXPECT_EQ(x.floats()[0], c.stream->name() == "main" ? 1.f : 2.f);
      };
      auto agent = ctx.stream->fork("agent");
      auto work = agent->submit(ctx, [&](const Context& c) {
        if (c.rank() == 0) c.stream->sleep_for(1);
        exchange(c, c.rank() == 0 ? 2 : 0);
      });
      if (ctx.rank() == 1) ctx.stream->sleep_for(2);
      exchange(ctx, ctx.rank() == 0 ? 1 : 0);
      ctx.stream->wait(*work);
    });
  });
}

TEST(SimMutex, is_passed_on_in_the_order_of_asking) {
  in_child([] {
    std::vector<std::string> order;
    make_sim_runtime({}, round_cluster(1))->launch(Layout(1, 1), [&](const Context& ctx) {
      auto mutex = ctx.stream->make_mutex();
      std::vector<std::unique_ptr<Stream>> streams;
      for (const std::string name : {"c", "a", "b"}) {
        streams.push_back(ctx.stream->fork(name));
        streams.back()->submit(ctx, [&, name, rank = streams.size()](const Context& c) {
          c.stream->compute(0.1 * static_cast<double>(rank));
          Lock lock(*mutex);
          EXPECT_DOUBLE_EQ(c.stream->now(), static_cast<double>(rank));
          c.stream->compute(1);
          order.push_back(name);
        });
      }
      {
        Lock lock(*mutex);
        ctx.stream->compute(1);  // the lock is held while other streams request it
      }
      for (auto& stream : streams) stream->synchronize();
      EXPECT_DOUBLE_EQ(ctx.stream->now(), 4);
    });
    EXPECT_THAT(order, ElementsAre("c", "a", "b"));
  });
}

TEST(SimMutex, is_held_for_the_time_that_its_owner_computes) {
  // When the owner unlocks, one second of its work is unfinished; the mutex is not free before that
  // second has passed.
  alone([](const Context& ctx) {
    auto mutex = ctx.stream->make_mutex();
    auto agent = ctx.stream->fork("agent");
    auto work = agent->submit(ctx, [&](const Context& c) {
      c.stream->sleep_for(0.5);
      Lock lock(*mutex);
      EXPECT_DOUBLE_EQ(c.stream->now(), 1);
    });
    {
      Lock lock(*mutex);
      ctx.stream->compute(1);
    }
    ctx.stream->compute(1);
    ctx.stream->wait(*work);
    EXPECT_DOUBLE_EQ(ctx.stream->now(), 2);
    return 0.0;
  });
}

TEST(SimMutex, may_be_locked_again_at_once) {
  EXPECT_DOUBLE_EQ(alone([](const Context& ctx) {
                     auto mutex = ctx.stream->make_mutex();
                     for (int i = 0; i < 3; ++i) {
                       Lock lock(*mutex);
                       ctx.stream->compute(1);
                     }
                     return ctx.stream->now();
                   }),
                   3);
}

}  // namespace
}  // namespace trigram::test::streams_test
