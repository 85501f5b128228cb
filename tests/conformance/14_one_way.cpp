// One-way channels: a rank's sends never wait for its receives.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

constexpr std::size_t kLength = 1000;

Transfer to(int peer, const Tensor& x) { return {Transfer::send, x, peer}; }
Transfer from(int peer, const Tensor& x) { return {Transfer::recv, x, peer}; }

bool buffers(const Context& ctx) { return ctx.comm->buffered(kLength * sizeof(float)) > 0; }

class OneWayChannels : public WorldTest {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "takes two ranks";
    WorldTest::SetUp();
    if (IsSkipped()) return;
    if (world_buffers() != expected_)
      GTEST_SKIP() << "worlds that buffer sends, and no others, have channels";
  }
  bool expected_ = true;

 private:
  bool world_buffers() const {
    const auto buffered =
        results_in_world(world(), flat_cluster(ranks()),
                         [](Context ctx) -> std::string { return buffers(ctx) ? "yes" : "no"; });
    return buffered.front() == "yes";
  }
};
INSTANTIATE_TEST_SUITE_P(Conformance14, OneWayChannels, every_variant(2, 4), world_test_name);

class NoOneWayChannels : public OneWayChannels {
 protected:
  NoOneWayChannels() { expected_ = false; }
};
INSTANTIATE_TEST_SUITE_P(Conformance14, NoOneWayChannels, every_variant(2, 4), world_test_name);

TEST_P(NoOneWayChannels, AreRefused) {
  const WorldError e = error([](Context ctx) { ctx.stream->fork_one_way("pushes"); });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
  EXPECT_NE(e.text.find("one-way channel pushes"), e.text.npos) << e.text;
}

TEST_P(OneWayChannels, NameTheirEnds) {
  run([](Context ctx) {
    const OneWay channel = ctx.stream->fork_one_way("pushes");
    EXPECT_EQ(channel.out->name(), "pushes out");
    EXPECT_EQ(channel.in->name(), "pushes in");
    EXPECT_EQ(ctx.stream->fork("plain")->name(), "plain");
  });
}

/// Every rank receives the messages of all rounds before it sends any. On a plain stream, on which
/// the receives would come first, no rank would ever send.
TEST_P(OneWayChannels, SendsDoNotWaitForReceives) {
  run([](Context ctx) {
    const OneWay channel = ctx.stream->fork_one_way("pushes");
    constexpr int kRounds = 20;
    std::vector<Tensor> received;
    std::shared_ptr<Work> work;
    for (int round = 0; round < kRounds; ++round)
      for (int peer = 0; peer < ctx.size(); ++peer) {
        if (peer == ctx.rank()) continue;
        received.push_back(ctx.device->empty(kLength));
        work = channel.in->submit(ctx, [x = received.back(), peer](Context c) {
          c.comm->transfer(std::array{from(peer, x)});
        });
      }
    ctx.stream->sleep_for(0.001 * ctx.rank());
    const auto sent = channel.out->submit(ctx, [](Context c) {
      for (int round = 0; round < kRounds; ++round) {
        const Tensor x = unique_tensor(c, kLength, 10 * c.rank() + round);
        for (int peer = 0; peer < c.size(); ++peer)
          if (peer != c.rank()) c.comm->transfer(std::array{to(peer, x)});
        c.device->fill(x, -1);
      }
    });
    ctx.stream->wait(*sent);
    ctx.stream->wait(*work);
    std::size_t at = 0;
    for (int round = 0; round < kRounds; ++round)
      for (int peer = 0; peer < ctx.size(); ++peer)
        if (peer != ctx.rank()) expect_unique_values(ctx, received[at++], 10 * peer + round);
  });
}

/// Two channels and a plain stream between the same ranks, whose messages arrive in another order.
TEST_P(OneWayChannels, KeepTheirMessagesApart) {
  run([](Context ctx) {
    const OneWay first = ctx.stream->fork_one_way("first");
    const auto plain = ctx.stream->fork("plain");
    const OneWay second = ctx.stream->fork_one_way("second");
    const int next = (ctx.rank() + 1) % ctx.size();
    const int previous = (ctx.rank() + ctx.size() - 1) % ctx.size();
    const Tensor of_first = ctx.device->empty(kLength), of_second = ctx.device->empty(kLength),
                 of_plain = ctx.device->empty(kLength);
    const auto send = [&](Stream& stream, int values) {
      ctx.stream->wait(*stream.submit(ctx, [next, values](Context c) {
        c.comm->transfer(std::array{to(next, unique_tensor(c, kLength, 10 * c.rank() + values))});
      }));
    };
    const auto receive = [&](Stream& stream, const Tensor& x) {
      ctx.stream->wait(*stream.submit(
          ctx, [previous, x](Context c) { c.comm->transfer(std::array{from(previous, x)}); }));
    };
    send(*second.out, 2);
    send(*first.out, 1);
    const auto exchanged = plain->submit(ctx, [&](Context c) {
      c.comm->transfer(
          std::array{to(next, unique_tensor(c, kLength, 10 * c.rank())), from(previous, of_plain)});
    });
    ctx.stream->wait(*exchanged);
    receive(*first.in, of_first);
    receive(*second.in, of_second);
    expect_unique_values(ctx, of_plain, 10 * previous);
    expect_unique_values(ctx, of_first, 10 * previous + 1);
    expect_unique_values(ctx, of_second, 10 * previous + 2);
  });
}

TEST_P(OneWayChannels, AMessageThatNobodyReceivesIsReported) {
  const WorldError e = error([](Context ctx) {
    const OneWay channel = ctx.stream->fork_one_way("pushes");
    if (ctx.rank() == 0)
      ctx.stream->wait(*channel.out->submit(
          ctx, [](Context c) { c.comm->transfer(std::array{to(1, c.device->empty(kLength))}); }));
  });
  EXPECT_EQ(e.kind, WorldError::hang) << e.text;
  EXPECT_NE(e.text.find("rank 0 waits for rank 1 to receive a message on stream pushes out"),
            e.text.npos)
      << e.text;
}

TEST_P(OneWayChannels, AMessageOfAnotherLengthIsRefused) {
  const WorldError e = error([](Context ctx) {
    const OneWay channel = ctx.stream->fork_one_way("pushes");
    if (ctx.rank() == 0)
      ctx.stream->wait(*channel.out->submit(
          ctx, [](Context c) { c.comm->transfer(std::array{to(1, c.device->empty(100))}); }));
    if (ctx.rank() == 1)
      ctx.stream->wait(*channel.in->submit(
          ctx, [](Context c) { c.comm->transfer(std::array{from(0, c.device->empty(101))}); }));
  });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
  EXPECT_NE(e.text.find("rank 0 sent 100 x f32"), e.text.npos) << e.text;
}

}  // namespace
}  // namespace trigram::test
