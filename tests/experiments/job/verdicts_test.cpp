#include "experiments/job/verdicts.h"

#include <gmock/gmock.h>

#include "core/config/config_error.h"

namespace trigram::verdicts_test {
namespace {

/// The text of the error that check_verdicts throws; empty if it throws none.
std::string error_of(const std::vector<std::string>& verdicts) {
  try {
    check_verdicts(verdicts);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(Verdicts, NoErrorIsNone) {
  EXPECT_EQ(error_of({""}), "");
  EXPECT_EQ(error_of({"", "", ""}), "");
}

TEST(Verdicts, AnErrorOfRank0KeepsItsLines) {
  const std::string lines = "a.json: /steps: wrong\na.json: /seed: wrong";
  EXPECT_EQ(error_of({lines, "", ""}), lines);
}

TEST(Verdicts, ErrorsOfOtherRanksAreNamedWithAllThatHaveThem) {
  EXPECT_EQ(error_of({"", "gone", "", "gone"}), "rank 1 3: gone");
  EXPECT_EQ(error_of({"wrong", "gone", "late"}), "rank 0: wrong; rank 1: gone; rank 2: late");
  EXPECT_EQ(error_of({"", "a", "b", "c", "d", "e"}),
            "rank 1: a; rank 2: b; rank 3: c; rank 4: d; and others");
}

TEST(Verdicts, ArgumentsAreComparedAsTheyAre) {
  EXPECT_EQ(compare_arguments({"run", "a.json"}, {"run", "a.json"}), "");
  EXPECT_EQ(compare_arguments({"run", "b\n"}, {"run", "a b"}),
            "has the arguments \"run b\\n\", and rank 0 has \"run a b\"; expected the same on all "
            "ranks");
  EXPECT_NE(compare_arguments({"run", "a b"}, {"run", "a", "b"}), "");
}

}  // namespace
}  // namespace trigram::verdicts_test
