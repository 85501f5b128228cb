#include "core/wait_text.h"

#include <gtest/gtest.h>

#include "core/check.h"

namespace trigram::wait_text_test {
namespace {

TEST(WaitText, NamesWhoWaitsForWhatAndWhere) {
  EXPECT_EQ(wait_text(3, "comm", {.kind = Wait::message, .peer = 2}),
            "rank 3 waits for a message from rank 2 on stream comm");
  EXPECT_EQ(wait_text(0, "main", {.kind = Wait::receiver, .peer = 2}),
            "rank 0 waits for rank 2 to receive a message on stream main");
  EXPECT_EQ(wait_text(1, "agent", {.kind = Wait::control, .tag = 7}),
            "rank 1 waits for a control message with tag 7 on stream agent");
  EXPECT_EQ(wait_text(1, "main", {.kind = Wait::work, .name = "agent"}),
            "rank 1 waits for a task of stream agent on stream main");
  EXPECT_EQ(wait_text(2, "comm", {.kind = Wait::collective}),
            "rank 2 waits for the other ranks in a native collective on stream comm");
}

TEST(HangError, HasALinePerStream) {
  const std::string lines[] = {"one", "two"};
  EXPECT_STREQ(hang_error(lines).what(), "one\ntwo");
}

TEST(CheckMatch, AcceptsEqualHalves) {
  const Tensor x = Tensor::phantom(5, DType::f16, 70);
  EXPECT_NO_THROW(check_match(x, 0, x, 1, "main"));
  // An empty tensor may or may not be a phantom, because there is nothing to copy.
  const Tensor empty({}, 0, DType::f32, 0);
  const Tensor valued(
      std::shared_ptr<std::byte>(new std::byte[1], [](std::byte* p) { delete[] p; }), 0, DType::f32,
      0);
  EXPECT_NO_THROW(check_match(empty, 0, valued, 1, "main"));
}

TEST(CheckMatch, NamesBothRanksAndShapes) {
  try {
    check_match(Tensor::phantom(5, DType::f16, 70), 2, Tensor::phantom(5, DType::u8, 5), 9, "comm");
    FAIL();
  } catch (const InvariantError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("rank 2 sent 5 x f16 priced as 70 (phantom) and rank 9 expected 5 x u8 "
                        "(phantom) on stream comm"),
              text.npos)
        << text;
  }
}

TEST(CheckPeer, KnowsTheWorld) {
  EXPECT_NO_THROW(check_peer(0, 3, 4, "main"));
  EXPECT_THROW(check_peer(0, 4, 4, "main"), InvariantError);
  EXPECT_THROW(check_peer(0, -1, 4, "main"), InvariantError);
}

}  // namespace
}  // namespace trigram::wait_text_test
