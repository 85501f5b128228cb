// A send ends when the transport has buffered it, which may be long before it is received. The
// receiver gets the values that the tensor held at the call, in order, and the transport never
// holds more than it has room for.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

constexpr int kTag = 7;

class Eager : public WorldTest {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "takes two ranks";
    WorldTest::SetUp();
  }
};
INSTANTIATE_TEST_SUITE_P(Conformance13, Eager, every_variant(2, 4), world_test_name);

Transfer to(int peer, const Tensor& x) { return {Transfer::send, x, peer}; }
Transfer from(int peer, const Tensor& x) { return {Transfer::recv, x, peer}; }

TEST_P(Eager, ASlowReceiverSeesWhatEachSendHeld) {
  run([](Context ctx) {
    constexpr int kMessages = 40;
    constexpr std::size_t kLength = 4096;
    const Tensor x = ctx.device->empty(kLength);
    if (ctx.rank() == 0) {
      for (int i = 0; i < kMessages; ++i) {
        ctx.device->copy(x, unique_tensor(ctx, kLength, i));
        ctx.comm->transfer(std::array{to(1, x)});
        ctx.device->fill(x, -1);
      }
    }
    if (ctx.rank() != 1) return;
    ctx.stream->sleep_for(0.02);
    for (int i = 0; i < kMessages; ++i) {
      ctx.comm->transfer(std::array{from(0, x)});
      expect_unique_values(ctx, x, i);
      if (i % 8 == 0) ctx.stream->sleep_for(0.001);
    }
  });
}

TEST_P(Eager, OrderIsKeptBetweenLongAndShort) {
  run([](Context ctx) {
    // Some of these lengths fit into the transport's buffer several times, others not even once.
    const std::array<std::size_t, 6> lengths = {10, 400'000, 1'500'000, 0, 20, 700'000};
    if (ctx.rank() > 1) return;
    for (int i = 0; i < 12; ++i) {
      const std::size_t length = lengths[static_cast<std::size_t>(i) % lengths.size()];
      if (ctx.rank() == 0) {
        const Tensor x = unique_tensor(ctx, length, i);
        ctx.comm->transfer(std::array{to(1, x)});
        ctx.device->fill(x, -1);
      } else {
        const Tensor x = ctx.device->empty(length);
        if (i % 3 == 0) ctx.stream->sleep_for(0.005);
        ctx.comm->transfer(std::array{from(0, x)});
        expect_unique_values(ctx, x, i);
      }
    }
  });
}

TEST_P(Eager, WhatABatchDoesNotFitIsSentInOrderToEachPeer) {
  run([](Context ctx) {
    constexpr std::size_t kLength = 400'000;  // a buffer holds two of these
    constexpr int kEach = 5;
    std::vector<Transfer> batch;
    for (int i = 0; i < kEach; ++i)
      for (int peer = 0; peer < ctx.size(); ++peer) {
        if (peer == ctx.rank()) continue;
        batch.push_back(to(peer, unique_tensor(ctx, kLength, ctx.rank() * 10 + i)));
        batch.push_back(from(peer, ctx.device->empty(kLength)));
      }
    if (ctx.rank() == 1) ctx.stream->sleep_for(0.01);
    ctx.comm->transfer(batch);
    std::size_t at = 0;
    for (int i = 0; i < kEach; ++i)
      for (int peer = 0; peer < ctx.size(); ++peer) {
        if (peer == ctx.rank()) continue;
        expect_unique_values(ctx, batch[at + 1].tensor, peer * 10 + i);
        at += 2;
      }
  });
}

/// Rank 1 is told about each message that rank 0 has sent, and receives none before it has to.
TEST_P(Eager, IsAheadByAsMuchAsIsBufferedAndThenWaits) {
  run([](Context ctx) {
    constexpr std::size_t kLength = 250'000;
    constexpr int kMessages = 12;
    const auto buffered = static_cast<int>(ctx.comm->buffered(kLength * sizeof(float)));
    ASSERT_LT(buffered, kMessages);
    const Tensor x = ctx.device->empty(kLength);
    if (ctx.rank() == 0)
      for (int i = 0; i < kMessages; ++i) {
        ctx.comm->transfer(std::array{to(1, x)});
        ctx.control->post(1, kTag, i);
      }
    if (ctx.rank() != 1) return;
    for (int i = 0; i < buffered; ++i) ctx.control->receive(kTag);
    ctx.stream->sleep_for(0.02);
    EXPECT_FALSE(ctx.control->poll(kTag)) << "more than " << buffered << " were taken";
    for (int i = 0; i < kMessages; ++i) ctx.comm->transfer(std::array{from(0, x)});
    for (int i = buffered; i < kMessages; ++i) ctx.control->receive(kTag);
  });
}

/// All ranks of a ring send before they receive. Until the last rank sends, too, rank r has data
/// for the rounds 0 to r. The last rank starts when it has been told about all of these rounds.
TEST_P(Eager, OthersGoOnWithoutALateRankAsFarAsTheyHaveData) {
  run([](Context ctx) {
    const int last = ctx.size() - 1;
    const int next = (ctx.rank() + 1) % ctx.size(), previous = (ctx.rank() + last) % ctx.size();
    const Tensor x = unique_tensor(ctx, 100, ctx.rank());
    const bool ahead = ctx.comm->buffered(x.nbytes()) > 0;
    if (ahead && ctx.rank() == last)
      for (int i = 0; i < last; ++i) ctx.control->receive(kTag);
    for (int round = 0; round < ctx.size(); ++round) {
      if (ahead) {
        ctx.comm->transfer(std::array{to(next, x)});
        if (round == ctx.rank() && ctx.rank() != last) ctx.control->post(last, kTag, round);
        ctx.comm->transfer(std::array{from(previous, x)});
      } else {
        ctx.comm->transfer(std::array{to(next, x), from(previous, x)});
      }
      expect_unique_values(ctx, x, (ctx.rank() + 2 * ctx.size() - 1 - round) % ctx.size());
    }
  });
}

TEST_P(Eager, AMessageThatNobodyReceivesIsReported) {
  const WorldError e = error([](Context ctx) {
    const Tensor x = ctx.device->empty(100);
    if (ctx.rank() == 0) ctx.comm->transfer(std::array{to(1, x), to(1, x)});
    if (ctx.rank() == 1) ctx.comm->transfer(std::array{from(0, x)});
  });
  EXPECT_EQ(e.kind, WorldError::hang) << e.text;
  EXPECT_NE(e.text.find("rank 0 waits for rank 1 to receive a message on stream main"), e.text.npos)
      << e.text;
}

TEST_P(Eager, AMessageOfAnotherLengthIsRefusedByALateReceiver) {
  const WorldError e = error([](Context ctx) {
    if (ctx.rank() == 0) ctx.comm->transfer(std::array{to(1, ctx.device->empty(100))});
    if (ctx.rank() != 1) return;
    ctx.stream->sleep_for(0.01);
    ctx.comm->transfer(std::array{from(0, ctx.device->empty(101))});
  });
  EXPECT_EQ(e.kind, WorldError::invariant) << e.text;
  EXPECT_NE(e.text.find("rank 0 sent 100 x f32"), e.text.npos) << e.text;
}

}  // namespace
}  // namespace trigram::test
