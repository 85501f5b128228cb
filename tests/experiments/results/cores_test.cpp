#include "experiments/results/cores.h"

#include <gtest/gtest.h>

#include "core/config/option_type.h"

namespace trigram::cores_test {
namespace {

std::string statement(const std::string& machine, const std::vector<int>& cores) {
  return Json{{"machine", machine}, {"cores", cores}}.dump();
}

TEST(CoresOfProcesses, TheCoresOfBoundRanksAreAdded) {
  const Cores cores = cores_of_processes({statement("a", {0}), statement("a", {1})}, 0);
  EXPECT_EQ(cores.count, 2);
  EXPECT_FALSE(cores.oversubscribed);
}

TEST(CoresOfProcesses, ACoreThatRanksShareCountsOnce) {
  EXPECT_TRUE(cores_of_processes({statement("a", {3}), statement("a", {3})}, 0).oversubscribed);
  EXPECT_FALSE(
      cores_of_processes({statement("a", {2, 3}), statement("a", {2, 3})}, 0).oversubscribed);
}

TEST(CoresOfProcesses, AMachineMustHaveACoreForEachOfItsRanks) {
  const std::vector<std::string> two_cores_each = {statement("a", {0}), statement("a", {1}),
                                                   statement("b", {0}), statement("b", {1})};
  EXPECT_FALSE(cores_of_processes(two_cores_each, 0).oversubscribed);
  const std::vector<std::string> b_is_small = {statement("a", {0, 1, 2, 3}), statement("b", {0}),
                                               statement("b", {0})};
  EXPECT_TRUE(cores_of_processes(b_is_small, 0).oversubscribed);
  EXPECT_EQ(cores_of_processes(b_is_small, 0).count, 4);
  EXPECT_EQ(cores_of_processes(b_is_small, 2).count, 1);
}

TEST(CoresOfProcesses, AStatementHasTheCoresThatTheProcessMayRunOn) {
  const Cores alone = cores_of_processes({cores_statement()}, 0);
  EXPECT_EQ(alone.count, available_cores());
  EXPECT_FALSE(alone.oversubscribed);
}

TEST(CoresOfThreads, AreTheCoresOfTheProcess) {
  EXPECT_FALSE(cores_of_threads(available_cores()).oversubscribed);
  EXPECT_TRUE(cores_of_threads(available_cores() + 1).oversubscribed);
}

}  // namespace
}  // namespace trigram::cores_test
