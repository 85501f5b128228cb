// Simulated times that are not known yet.
#include "runtime/sim/fluid/deferred_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace trigram::sim::deferred_time_test {
namespace {

/// Expects the later of the times `a` and `b`, once both events have been reached.
void expect_later(const DeferredTime& a, const DeferredTime& b, SimEvent& first, double first_s,
                  SimEvent& second, double second_s, double expected_s) {
  const DeferredTime one = DeferredTime::later(a, b), other = DeferredTime::later(b, a);
  first.reach(first_s);
  if (&second != &first) {
    EXPECT_FALSE(one.known());
    EXPECT_FALSE(other.known());
    second.reach(second_s);
  }
  for (const DeferredTime& later : {one, other}) {
    ASSERT_TRUE(later.known());
    EXPECT_EQ(later.date_s(), expected_s);
  }
}

TEST(DeferredTime, IsTheLaterOfAnEventAndADate) {
  for (const double seconds : {0.0, 2.0})
    for (const double reached_s : {1.0, 10.0}) {
      const auto event = std::make_shared<SimEvent>();
      expect_later(DeferredTime::after({event}, seconds), DeferredTime::at(5), *event, reached_s,
                   *event, reached_s, std::max(reached_s + seconds, 5.0));
    }
}

TEST(DeferredTime, IsTheLaterOfTwoEvents) {
  for (const double seconds : {0.0, 2.0})
    for (const double second_s : {1.0, 10.0}) {
      const auto first = std::make_shared<SimEvent>(), second = std::make_shared<SimEvent>();
      expect_later(DeferredTime::after({first}, seconds), DeferredTime::after({second}, 0), *first,
                   5, *second, second_s, std::max(5 + seconds, second_s));
    }
}

TEST(DeferredTime, AddsSecondsToTheLaterOfAnEventAndADate) {
  const auto event = std::make_shared<SimEvent>();
  const DeferredTime later =
      DeferredTime::later(DeferredTime::after({event}, 0), DeferredTime::at(5));
  const DeferredTime after = DeferredTime::after(later.base(), later.seconds() + 3);
  event->reach(1);
  ASSERT_TRUE(after.known());
  EXPECT_EQ(after.date_s(), 8);
}

TEST(SimEvent, CallsEveryActionWhenReached) {
  SimEvent event;
  int calls = 0;
  for (int i = 0; i < 2; ++i) event.when_reached([&] { ++calls; });
  event.reach(1);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(event.reached());
}

}  // namespace
}  // namespace trigram::sim::deferred_time_test
