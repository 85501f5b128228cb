// When workers come and go, from a description of failures.
#include "netmodels/planned_membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/clusters.h"

namespace trigram::planned_membership_test {
namespace {

using testing::HasSubstr;

std::string with(const std::string& failures) {
  return R"({"nodes": 2, "workers_per_node": 2, "failures": )" + failures + "}";
}
Failures failures_of(const std::string& failures) {
  return test::cluster_of(with(failures)).failures;
}
std::string error_of(const std::string& failures) { return test::error_of(with(failures)); }

TEST(PlannedMembership, counts_time_from_the_first_step_of_a_rank) {
  const Failures failures = failures_of(
      R"({"events": [{"at": "2s", "kind": "crash", "node": 1}], "detection": "3s", "restart": "4s"})");
  PlannedMembership plan(failures, 2, 2);
  EXPECT_TRUE(plan.begins(2));
  EXPECT_FALSE(plan.absence(2, 10));  // its first step
  EXPECT_FALSE(plan.absence(2, 11.5));
  const auto absence = plan.absence(2, 12.5);
  ASSERT_TRUE(absence);
  EXPECT_EQ(absence->kind, Absence::crash);
  EXPECT_EQ(absence->noticed_after_s, 3);
  EXPECT_EQ(absence->back_s, 12.5 + 3 + 4);
  EXPECT_FALSE(plan.absence(2, 100));  // once only
  EXPECT_FALSE(plan.absence(0, 10) || plan.absence(0, 100));
}

TEST(PlannedMembership, a_worker_comes_back_by_a_join_if_it_is_not_replaced) {
  const Failures failures = failures_of(R"({"events": [
    {"at": "1s", "kind": "leave", "rank": 0}, {"at": "2s", "kind": "crash", "rank": 1},
    {"at": "3s", "kind": "crash", "rank": 2}, {"at": "6s", "kind": "join", "rank": 0},
    {"at": "7s", "kind": "join", "rank": 1}], "detection": "1s", "restart": "1s", "replace": false})");
  PlannedMembership plan(failures, 2, 2);
  for (const int rank : {0, 1, 2}) EXPECT_FALSE(plan.absence(rank, 0));
  const auto leaves = plan.absence(0, 4), crashes = plan.absence(1, 4), ends = plan.absence(2, 4);
  ASSERT_TRUE(leaves && crashes && ends);
  EXPECT_EQ(leaves->kind, Absence::leave);
  EXPECT_EQ(leaves->noticed_after_s, 0);
  EXPECT_EQ(leaves->back_s, 6);
  EXPECT_EQ(crashes->back_s, 7);
  EXPECT_TRUE(std::isinf(ends->back_s));
}

TEST(PlannedMembership, a_worker_whose_first_event_is_a_join_begins_absent) {
  const Failures failures = failures_of(R"([{"at": "5s", "kind": "join", "rank": 3}])");
  PlannedMembership plan(failures, 2, 2);
  EXPECT_FALSE(plan.begins(3));
  EXPECT_EQ(plan.fewest(), 3);
  const auto late = plan.absence(3, 1);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->kind, Absence::late);
  EXPECT_EQ(late->back_s, 6);
}

TEST(PlannedMembership, failures_of_a_worker_that_is_absent_have_no_effect) {
  const Failures failures = failures_of(
      R"({"events": [{"at": "1s", "kind": "crash", "rank": 0}, {"at": "2s", "kind": "crash", "node": 0},
         {"at": "9s", "kind": "crash", "rank": 0}], "restart": "5s"})");
  PlannedMembership plan(failures, 2, 2);
  EXPECT_FALSE(plan.absence(0, 0));
  EXPECT_EQ(plan.absence(0, 1)->back_s, 6);
  EXPECT_FALSE(plan.absence(0, 6));
  EXPECT_TRUE(plan.absence(0, 9));
}

TEST(PlannedMembership, all_ranks_of_a_node_draw_the_same_crashes) {
  const Failures failures = failures_of(R"({"mtbf": "10s", "seed": 3})");
  PlannedMembership plan(failures, 2, 2);
  std::vector<std::vector<double>> crashes(4);
  for (int rank = 0; rank < 4; ++rank)
    for (double now = 0; now < 1000; now += 0.25)
      if (plan.absence(rank, now)) crashes[static_cast<std::size_t>(rank)].push_back(now);
  EXPECT_EQ(crashes[0], crashes[1]);
  EXPECT_EQ(crashes[2], crashes[3]);
  EXPECT_NE(crashes[0], crashes[2]);
  EXPECT_NEAR(static_cast<double>(crashes[0].size()), 100, 40);  // four standard deviations
}

TEST(PlannedMembership, invalid_descriptions_are_refused) {
  EXPECT_THAT(
      error_of(
          R"([{"at": "1s", "kind": "join", "rank": 0}, {"at": "2s", "kind": "join", "rank": 0}])"),
      HasSubstr(
          "/failures/1/rank: expected a worker that is not there; the worker of rank 0 is there"));
  EXPECT_THAT(
      error_of(
          R"([{"at": "1s", "kind": "leave", "rank": 1}, {"at": "2s", "kind": "crash", "node": 0}])"),
      HasSubstr(
          "/failures/1/node: expected a worker that is there; the worker of rank 1 is not there"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "leave", "rank": 4}])"),
              HasSubstr("/failures/0/rank"));
  EXPECT_THAT(
      error_of(
          R"([{"at": "1s", "kind": "join", "node": 0}, {"at": "1s", "kind": "join", "node": 1}])"),
      HasSubstr("expected a worker that is there at the beginning"));
  EXPECT_THAT(error_of(R"({"events": [], "recovery": "restart", "replace": false})"),
              HasSubstr("/replace"));
}

}  // namespace
}  // namespace trigram::planned_membership_test
