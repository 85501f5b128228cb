#include "runtime/host/watchdog.h"

#include <gtest/gtest.h>

#include <thread>

namespace trigram::host {
namespace {

using std::chrono::seconds;

TEST(Awake, TellsSinceWhenThereWasNoGap) {
  const Clock::time_point began{};
  Awake awake(began);
  EXPECT_EQ(awake.since(began + seconds(1)), began);
  EXPECT_EQ(awake.since(began + seconds(1) + Awake::kLongestGap), began);
  const Clock::time_point late = began + seconds(20);
  EXPECT_EQ(awake.since(late), late) << "nobody has looked for too long";
  EXPECT_EQ(awake.since(late + seconds(1)), late);
}

TEST(Watchdog, BeginsAnewWhereNobodyLooked) {
  Watchdog watchdog(1);
  const Look stuck{.running = false, .waits_over = 0, .blocked = {"rank 0 waits"}};
  EXPECT_FALSE(watchdog.hangs(stuck));
  std::this_thread::sleep_for(Awake::kLongestGap + std::chrono::milliseconds(200));
  EXPECT_FALSE(watchdog.hangs(stuck)) << "the process was kept from looking, and perhaps all of it";
}

TEST(Watchdog, BarksAtWhatStands) {
  Watchdog watchdog(0.3);
  const Look stuck{.running = false, .waits_over = 0, .blocked = {"rank 0 waits"}};
  const auto latest = Clock::now() + seconds(100);
  bool hangs = false;
  while (!hangs && Clock::now() < latest) {
    std::this_thread::sleep_for(watchdog.interval());
    hangs = watchdog.hangs(stuck);
  }
  EXPECT_TRUE(hangs);
}

}  // namespace
}  // namespace trigram::host
