#include "experiments/job/verdicts.h"

#include <gmock/gmock.h>

#include "tests/experiments/config_error_of.h"

namespace trigram::verdicts_test {
namespace {

/// The text of the error that check_verdicts throws; empty if it throws none.
std::string error_of_verdicts(const std::vector<std::string>& verdicts) {
  return error_of([&] { check_verdicts(verdicts); });
}

TEST(Verdicts, EmptyVerdictsAreNoError) {
  EXPECT_EQ(error_of_verdicts({""}), "");
  EXPECT_EQ(error_of_verdicts({"", "", ""}), "");
}

TEST(Verdicts, AnErrorOfRank0KeepsItsLines) {
  const std::string lines = "a.json: /steps: wrong\na.json: /seed: wrong";
  EXPECT_EQ(error_of_verdicts({lines, "", ""}), lines);
}

TEST(Verdicts, ErrorsOfOtherRanksNameTheirRanks) {
  EXPECT_EQ(error_of_verdicts({"", "gone", "", "gone"}), "rank 1 3: gone");
  EXPECT_EQ(error_of_verdicts({"wrong", "gone", "late"}),
            "rank 0: wrong; rank 1: gone; rank 2: late");
  EXPECT_EQ(error_of_verdicts({"", "a", "b", "c", "d", "e"}),
            "rank 1: a; rank 2: b; rank 3: c; rank 4: d; and others");
}

TEST(Verdicts, ArgumentsAreComparedOneByOne) {
  EXPECT_EQ(compare_arguments({"run", "a.json"}, {"run", "a.json"}), "");
  EXPECT_EQ(compare_arguments({"run", "b\n"}, {"run", "a b"}),
            "has the arguments \"run b\\n\", and rank 0 has \"run a b\"; expected the same on all "
            "ranks");
  EXPECT_NE(compare_arguments({"run", "a b"}, {"run", "a", "b"}), "");
}

}  // namespace
}  // namespace trigram::verdicts_test
