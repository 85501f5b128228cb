#include "runtime/host/watchdog.h"

#include <gtest/gtest.h>

#include <thread>

namespace trigram::host::watchdog_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Duration = Clock::duration;

/// The interruptions of a watching process: it checks regularly for `checked`, then stops for
/// `pause`, and so on.
struct Stalls {
  Duration checked, pause;
};

/// A clock that the test advances.
class ManualClock {
 public:
  Clock::time_point now() const { return now_; }
  /// Calls `check` every half second for `checked`, and once more after `pause`. Returns false as
  /// soon as `check` does.
  template <class Check>
  bool advance(Duration checked, Duration pause, const Check& check) {
    for (Duration passed{0}; passed < checked; passed += milliseconds(500)) {
      now_ += milliseconds(500);
      if (!check()) return false;
    }
    now_ += pause;
    return check();
  }

 private:
  Clock::time_point now_{};
};

TEST(AwakeClock, CountsTheTimeBetweenUpdates) {
  const Clock::time_point began{};
  AwakeClock awake(seconds(30), began);
  EXPECT_EQ(awake.update(began + seconds(1)), seconds(1));
  EXPECT_EQ(awake.update(began + seconds(1) + AwakeClock::kLongestGap), seconds(3));
}

TEST(AwakeClock, AGapCountsAsTheLongestGapOrAQuarterOfTheTimeout) {
  const Clock::time_point began{};
  AwakeClock long_timeout(seconds(30), began), short_timeout(seconds(2), began);
  EXPECT_EQ(long_timeout.update(began + seconds(3600)), AwakeClock::kLongestGap);
  EXPECT_EQ(short_timeout.update(began + seconds(3600)), milliseconds(500));
}

TEST(AwakeClock, ReportsAPeerAfterTheTimeout) {
  const Clock::time_point began{};
  AwakeClock awake(seconds(3), began);
  for (int s = 1; s <= 4; ++s) {
    awake.update(began + seconds(s));
    EXPECT_EQ(awake.too_long(Duration(0)), s >= 3) << s;
    EXPECT_EQ(awake.too_long(seconds(1)), s >= 4) << s;
  }
}

TEST(AwakeClock, GrantsAGracePeriodAfterAGap) {
  ManualClock clock;
  AwakeClock awake(seconds(30), clock.now());
  const auto is_quiet = [&] {
    awake.update(clock.now());
    return !awake.too_long(Duration(0));
  };
  ASSERT_TRUE(clock.advance(seconds(29), seconds(3600), is_quiet)) << "right after the gap";
  EXPECT_TRUE(clock.advance(AwakeClock::kGrace - milliseconds(500), Duration(0), is_quiet));
  EXPECT_FALSE(clock.advance(seconds(1), Duration(0), is_quiet));
}

TEST(AwakeClock, AGracePeriodIsNoLongerThanTheTimeout) {
  ManualClock clock;
  AwakeClock awake(seconds(2), clock.now());
  const auto is_quiet = [&] {
    awake.update(clock.now());
    return !awake.too_long(Duration(0));
  };
  ASSERT_TRUE(clock.advance(milliseconds(1500), seconds(3600), is_quiet));
  EXPECT_TRUE(clock.advance(milliseconds(1500), Duration(0), is_quiet));
  EXPECT_FALSE(clock.advance(milliseconds(500), Duration(0), is_quiet));
}

/// A timeout ends however often the watching process is interrupted.
TEST(Timeout, EndsEvenIfItsProcessStallsAgainAndAgain) {
  for (const Duration timeout : {milliseconds(300), milliseconds(2000), milliseconds(8000),
                                 milliseconds(30'000), milliseconds(600'000)})
    for (const Stalls& stalls :
         {Stalls{milliseconds(4800), milliseconds(2200)},
          Stalls{milliseconds(500), milliseconds(2500)}, Stalls{Duration(0), milliseconds(2100)},
          Stalls{Duration(0), seconds(100)}, Stalls{seconds(5), seconds(60)},
          Stalls{seconds(31), seconds(3)}}) {
      ManualClock clock;
      Timeout timer(timeout, clock.now());
      int pauses = 0;
      Duration awake{0};
      while (clock.advance(stalls.checked, stalls.pause,
                           [&] { return !timer.is_over(clock.now()); })) {
        ASSERT_LT(++pauses, 1000) << timeout.count() << " ns, " << stalls.pause.count();
        awake += stalls.checked;
      }
      EXPECT_LE(awake, timeout + AwakeClock::kGrace + 2 * AwakeClock::kLongestGap);
    }
}

TEST(Timeout, ExcludesLongSuspensionsOfTheWholeJob) {
  ManualClock clock;
  Timeout timer(seconds(30), clock.now());
  for (int suspension = 0; suspension < 5; ++suspension)
    EXPECT_TRUE(
        clock.advance(seconds(3), seconds(30'000), [&] { return !timer.is_over(clock.now()); }));
  timer.restart(clock.now());
  EXPECT_TRUE(clock.advance(seconds(29), Duration(0), [&] { return !timer.is_over(clock.now()); }));
}

TEST(Timeout, MayExceedTheRangeOfTheClock) {
  const Clock::time_point began = Clock::now();
  for (const double s : {1e9, 1e10, 1e300}) {
    Timeout timer(s);
    EXPECT_FALSE(timer.is_over(began + seconds(1))) << s;
    EXPECT_EQ(timer.poll_interval(), milliseconds(500));
  }
}

TEST(Watchdog, IgnoresTimeWithoutSnapshots) {
  ManualClock clock;
  Watchdog watchdog(1, clock.now());
  const StreamSnapshot stuck{.running = false, .waits_ended = 0, .blocked = {"rank 0 waits"}};
  const auto is_quiet = [&] { return !watchdog.hangs(stuck, clock.now()); };
  EXPECT_TRUE(clock.advance(milliseconds(500), seconds(20), is_quiet))
      << "the whole process may have been stopped meanwhile";
  EXPECT_TRUE(clock.advance(milliseconds(500), Duration(0), is_quiet));
  EXPECT_FALSE(clock.advance(milliseconds(500), Duration(0), is_quiet));
}

TEST(Watchdog, ReportsThatAllStreamsStayBlocked) {
  Watchdog watchdog(0.3);
  const StreamSnapshot stuck{.running = false, .waits_ended = 0, .blocked = {"rank 0 waits"}};
  const auto latest = Clock::now() + seconds(100);
  bool hangs = false;
  while (!hangs && Clock::now() < latest) {
    std::this_thread::sleep_for(watchdog.interval());
    hangs = watchdog.hangs(stuck);
  }
  EXPECT_TRUE(hangs);
}

}  // namespace
}  // namespace trigram::host::watchdog_test
