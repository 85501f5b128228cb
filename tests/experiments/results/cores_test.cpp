#include "experiments/results/cores.h"

#include <gtest/gtest.h>

#include "core/config/option_type.h"

namespace trigram::cores_test {
namespace {

std::string said(const std::string& machine, const std::vector<int>& cores) {
  return Json{{"machine", machine}, {"cores", cores}}.dump();
}

TEST(CoresOfProcesses, TheCoresOfBoundRanksOfAMachineAreAdded) {
  const Cores cores = cores_of_processes({said("a", {0}), said("a", {1})}, 0);
  EXPECT_EQ(cores.here, 2);
  EXPECT_FALSE(cores.oversubscribed);
}

TEST(CoresOfProcesses, ACoreThatRanksShareCountsOnce) {
  EXPECT_TRUE(cores_of_processes({said("a", {3}), said("a", {3})}, 0).oversubscribed);
  EXPECT_FALSE(cores_of_processes({said("a", {2, 3}), said("a", {2, 3})}, 0).oversubscribed);
}

TEST(CoresOfProcesses, EveryMachineIsHeldToItsOwnCores) {
  const std::vector<std::string> two_each = {said("a", {0}), said("a", {1}), said("b", {0}),
                                             said("b", {1})};
  EXPECT_FALSE(cores_of_processes(two_each, 0).oversubscribed);
  const std::vector<std::string> b_is_small = {said("a", {0, 1, 2, 3}), said("b", {0}),
                                               said("b", {0})};
  EXPECT_TRUE(cores_of_processes(b_is_small, 0).oversubscribed);
  EXPECT_EQ(cores_of_processes(b_is_small, 0).here, 4);
  EXPECT_EQ(cores_of_processes(b_is_small, 2).here, 1);
}

TEST(CoresOfProcesses, AProcessSaysTheCoresThatItMayRunOn) {
  const Cores alone = cores_of_processes({cores_statement()}, 0);
  EXPECT_EQ(alone.here, available_cores());
  EXPECT_FALSE(alone.oversubscribed);
}

TEST(CoresOfThreads, AreThoseOfTheProcess) {
  EXPECT_FALSE(cores_of_threads(available_cores()).oversubscribed);
  EXPECT_TRUE(cores_of_threads(available_cores() + 1).oversubscribed);
}

}  // namespace
}  // namespace trigram::cores_test
