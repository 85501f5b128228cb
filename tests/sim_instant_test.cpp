// Dates of the simulation that are not known yet.
#include "runtime/sim/fluid/instant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace trigram::sim {
namespace {

/// The date of the later of `a` and `b`, once the milestones have been reached.
void expect_later(const Instant& a, const Instant& b, Milestone& first, double first_s,
                  Milestone& second, double second_s, double expected_s) {
  const Instant one = Instant::later(a, b), other = Instant::later(b, a);
  first.reach(first_s);
  if (&second != &first) {
    EXPECT_FALSE(one.known());
    EXPECT_FALSE(other.known());
    second.reach(second_s);
  }
  for (const Instant& later : {one, other}) {
    ASSERT_TRUE(later.known());
    EXPECT_EQ(later.date_s(), expected_s);
  }
}

TEST(Instants, TheLaterOfAMilestoneAndADate) {
  for (const double seconds : {0.0, 2.0})
    for (const double reached_s : {1.0, 10.0}) {
      const auto milestone = std::make_shared<Milestone>();
      expect_later(Instant::after({milestone}, seconds), Instant::at(5), *milestone, reached_s,
                   *milestone, reached_s, std::max(reached_s + seconds, 5.0));
    }
}

TEST(Instants, TheLaterOfTwoMilestones) {
  for (const double seconds : {0.0, 2.0})
    for (const double second_s : {1.0, 10.0}) {
      const auto first = std::make_shared<Milestone>(), second = std::make_shared<Milestone>();
      expect_later(Instant::after({first}, seconds), Instant::after({second}, 0), *first, 5,
                   *second, second_s, std::max(5 + seconds, second_s));
    }
}

TEST(Instants, SecondsAfterTheLaterOfAMilestoneAndADate) {
  const auto milestone = std::make_shared<Milestone>();
  const Instant later = Instant::later(Instant::after({milestone}, 0), Instant::at(5));
  const Instant after = Instant::after(later.since(), later.seconds() + 3);
  milestone->reach(1);
  ASSERT_TRUE(after.known());
  EXPECT_EQ(after.date_s(), 8);
}

TEST(Instants, EveryoneWhoWaitsIsTold) {
  Milestone milestone;
  int told = 0;
  for (int i = 0; i < 2; ++i) milestone.when_reached([&] { ++told; });
  milestone.reach(1);
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(milestone.reached());
}

}  // namespace
}  // namespace trigram::sim
