// Failures of workers and nodes: what a description means, draws, and invalid descriptions.
#include "netmodels/failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/clusters.h"

namespace trigram::failures_test {
namespace {

using testing::HasSubstr;

std::string with(const std::string& failures) {
  return R"({"nodes": 4, "workers_per_node": 2, "failures": )" + failures + "}";
}

Failures failures_of(const std::string& failures) {
  return test::cluster_of(with(failures)).failures;
}

std::string error_of(const std::string& failures) { return test::error_of(with(failures)); }

TEST(Failures, there_are_none_by_default) {
  const Failures none = test::cluster_of(R"({"nodes": 4})").failures;
  EXPECT_TRUE(none.none());
  EXPECT_TRUE(std::isinf(FailureSequence(none, 4).next(0).at_s));
}

TEST(Failures, events_come_in_their_order) {
  const Failures failures = failures_of(
      R"([{"at": "2s", "kind": "crash", "node": 1}, {"at": "5s", "kind": "freeze", "rank": 3, "for": "4s"}])");
  FailureSequence sequence(failures, 4);
  const Failure first = sequence.next(0);
  EXPECT_EQ(first.at_s, 2);
  EXPECT_EQ(first.first_rank(2), 2);
  EXPECT_EQ(first.last_rank(2), 3);
  const Failure second = sequence.next(first.at_s);
  EXPECT_EQ(second.kind, Failure::Kind::freeze);
  EXPECT_EQ(second.first_rank(2), 3);
  EXPECT_EQ(second.last_rank(2), 3);
  EXPECT_EQ(second.duration_s, 4);
  EXPECT_TRUE(std::isinf(sequence.next(second.at_s).at_s));
}

TEST(Failures, crashes_of_nodes_are_a_poisson_process) {
  // The number of crashes of 16 nodes in a time of 1,000 times their mean interval has mean 16,000
  // and standard deviation 126, and so has the sum of the squared intervals in units of its mean.
  const Failures failures = failures_of(R"({"mtbf": "10s", "seed": 3})");
  FailureSequence sequence(failures, 16);
  std::vector<double> last_s(16), sum_squares(16);
  int crashes = 0;
  double before_s = 0;
  for (Failure f = sequence.next(0); f.at_s < 10'000; f = sequence.next(f.at_s), ++crashes) {
    EXPECT_GT(f.at_s, before_s);
    before_s = f.at_s;
    const auto node = static_cast<std::size_t>(f.node);
    sum_squares[node] += std::pow((f.at_s - last_s[node]) / 10, 2);
    last_s[node] = f.at_s;
  }
  EXPECT_NEAR(crashes, 16'000, 4 * 126);
  // The second moment of an exponential interval is twice the square of its mean.
  double squares = 0;
  for (const double sum : sum_squares) squares += sum;
  EXPECT_NEAR(squares / crashes, 2, 0.15);
}

TEST(Failures, draws_repeat_for_the_same_seed_and_differ_between_seeds) {
  const Failures one = failures_of(R"({"mtbf": "10s", "seed": 1})");
  const Failures two = failures_of(R"({"mtbf": "10s", "seed": 2})");
  EXPECT_EQ(FailureSequence(one, 4).next(0).at_s, FailureSequence(one, 4).next(0).at_s);
  EXPECT_NE(FailureSequence(one, 4).next(0).at_s, FailureSequence(two, 4).next(0).at_s);
  FailureSequence stepwise(one, 4);
  stepwise.next(0);
  stepwise.next(20);
  EXPECT_EQ(stepwise.next(50).at_s, FailureSequence(one, 4).next(50).at_s);
}

TEST(Failures, invalid_descriptions_are_refused) {
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "crash", "rank": 8}])"),
              HasSubstr("/failures/0/rank: expected a rank below 8"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "crash", "node": 4}])"),
              HasSubstr("/failures/0/node: expected a node below 4"));
  EXPECT_THAT(
      error_of(
          R"([{"at": "2s", "kind": "crash", "rank": 1}, {"at": "1s", "kind": "crash", "rank": 0}])"),
      HasSubstr("/failures/1/at: expected events in the order of time; the one before is at 2 s"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "crash"}])"),
              HasSubstr("/failures/0: expected either \"rank\" or \"node\""));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "crash", "rank": 1, "node": 0}])"),
              HasSubstr("/failures/0: expected either"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "freeze", "rank": 1}])"),
              HasSubstr("/failures/0/for: expected how long"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "crash", "rank": 1, "for": "1s"}])"),
              HasSubstr("/failures/0/for: has no effect here"));
  EXPECT_THAT(error_of(R"([{"at": "1s", "kind": "crush", "rank": 1}])"), HasSubstr("crash"));
  EXPECT_THAT(error_of(R"({"seed": 4})"), HasSubstr("/failures/seed: has no effect here"));
}

}  // namespace
}  // namespace trigram::failures_test
