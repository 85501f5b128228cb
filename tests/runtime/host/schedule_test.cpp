#include "runtime/host/schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace trigram::host::schedule_test {
namespace {

TEST(Schedule, RunsDueActionsByDateThenInTheOrderOfInsertion) {
  Schedule schedule;
  std::string ran;
  schedule.at(2, [&] { ran += 'c'; });
  schedule.at(1, [&] { ran += 'a'; });
  schedule.at(2, [&] { ran += 'd'; });
  schedule.at(1, [&] { ran += 'b'; });
  EXPECT_EQ(schedule.next(), 1);
  schedule.run_due(1.5);
  EXPECT_EQ(ran, "ab");
  EXPECT_EQ(schedule.next(), 2);
  schedule.run_due(2);
  EXPECT_EQ(ran, "abcd");
  EXPECT_EQ(schedule.next(), Schedule::kNever);
}

TEST(Schedule, RunsDueActionsThatAnActionAdds) {
  Schedule schedule;
  std::string ran;
  schedule.at(1, [&] {
    ran += 'a';
    schedule.at(2, [&] { ran += 'b'; });
    schedule.at(9, [&] { ran += 'z'; });
  });
  schedule.at(3, [&] { ran += 'c'; });
  schedule.run_due(5);
  EXPECT_EQ(ran, "abc");
  EXPECT_EQ(schedule.next(), 9);
}

}  // namespace
}  // namespace trigram::host::schedule_test
