// When no stream can continue, the world ends with an error that says which rank waits for which
// event.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/worlds.h"

namespace trigram::test {
namespace {

class Hang : public WorldTest {
 protected:
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "takes two ranks";
    WorldTest::SetUp();
  }
  /// Expects that the world hangs, and that the report has exactly these lines, in any order.
  void expect_report(const Task& rank_main, const std::vector<std::string>& lines) {
    const WorldError e = error(rank_main);
    EXPECT_EQ(e.kind, WorldError::hang) << e.text;
    std::vector<std::string> reported;
    for (std::size_t at = 0; at < e.text.size();) {
      const std::size_t end = std::min(e.text.find('\n', at), e.text.size());
      reported.push_back(e.text.substr(at, end - at));
      at = end + 1;
    }
    EXPECT_THAT(reported, ::testing::UnorderedElementsAreArray(lines));
  }
};
INSTANTIATE_TEST_SUITE_P(Conformance09, Hang, every_variant(2, 4), world_test_name);

const Tensor kTensor = Tensor::phantom(10, DType::f32, 10);
Transfer from(int peer) { return {Transfer::recv, kTensor, peer}; }
Transfer to(int peer) { return {Transfer::send, kTensor, peer}; }

TEST_P(Hang, NamesAForgottenMessage) {
  expect_report(
      [](Context ctx) {
        if (ctx.rank() == 1) ctx.comm->transfer(std::array{from(0)});
      },
      {"rank 1 waits for a message from rank 0 on stream main"});
}

TEST_P(Hang, NamesAMessageThatNobodyTakes) {
  expect_report(
      [](Context ctx) {
        if (ctx.rank() == 0) ctx.comm->transfer(std::array{to(1)});
      },
      {"rank 0 waits for rank 1 to receive a message on stream main"});
}

TEST_P(Hang, NamesWhatABatchStillMisses) {
  expect_report(
      [](Context ctx) {
        if (ctx.rank() == 0) ctx.comm->transfer(std::array{to(1), from(1), from(0), to(0)});
        if (ctx.rank() == 1) ctx.comm->transfer(std::array{from(0)});
      },
      {"rank 0 waits for a message from rank 1 on stream main"});
}

TEST_P(Hang, NamesEveryStreamOfACycle) {
  expect_report(
      [](Context ctx) {
        const int next = (ctx.rank() + 1) % ctx.size();
        ctx.comm->transfer(std::array{from(next)});
      },
      [this] {
        std::vector<std::string> lines;
        for (int r = 0; r < ranks(); ++r)
          lines.push_back("rank " + std::to_string(r) + " waits for a message from rank " +
                          std::to_string((r + 1) % ranks()) + " on stream main");
        return lines;
      }());
}

TEST_P(Hang, NamesTagsTasksAndStreams) {
  expect_report(
      [](Context ctx) {
        auto agent = ctx.stream->fork("agent");
        auto work = agent->submit(ctx, [](Context c) {
          if (c.rank() == 1) c.control->receive(7);
        });
        ctx.stream->wait(*work);
      },
      {"rank 1 waits for a control message with tag 7 on stream agent",
       "rank 1 waits for a task of stream agent on stream main"});
}

TEST_P(Hang, NamesALockedMutex) {
  expect_report(
      [](Context ctx) {
        if (ctx.rank() != 1) return;
        auto mutex = ctx.stream->make_mutex();
        Lock once(*mutex);
        Lock twice(*mutex);
      },
      {"rank 1 waits for a mutex on stream main"});
}

TEST_P(Hang, IsNotASlowRank) {
  const WorldError e = error([](Context ctx) {
    if (ctx.rank() == 0) {
      for (int i = 0; i < 5; ++i) ctx.stream->compute(0.2);
      ctx.comm->transfer(std::array{to(1)});
    }
    if (ctx.rank() == 1) ctx.comm->transfer(std::array{from(0)});
  });
  EXPECT_EQ(e.kind, WorldError::none) << e.text;
}

}  // namespace
}  // namespace trigram::test
