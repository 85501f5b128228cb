#include "experiments/run/lock_step.h"

#include <gtest/gtest.h>

namespace trigram::lock_step_test {
namespace {

Experiment unequal(const std::string& algorithm) {
  Experiment e;
  e.runtime = "sim";
  e.algorithm = {{"name", algorithm}};
  e.cluster.nodes = 4;
  e.cluster.worker_variation = 0.03;
  return e;
}

Json summary_of(long steps) { return {{"steps", steps}, {"steady", nullptr}}; }

TEST(LockStep, IsLeftByWorkersThatDifferAndWaitOnlyForPeers) {
  for (const char* waits_for_peers : {"swarm_sgd", "decentralized", "adpsgd"}) {
    Experiment e = unequal(waits_for_peers);
    EXPECT_TRUE(leaves_lock_step(e)) << waits_for_peers;
    e.cluster.worker_variation = 0;
    EXPECT_FALSE(leaves_lock_step(e)) << waits_for_peers;
    e.cluster.bandwidth_jitter = 0.01;
    EXPECT_TRUE(leaves_lock_step(e)) << waits_for_peers;
  }
  EXPECT_FALSE(leaves_lock_step(unequal("gradient_allreduce"))) << "all wait for all";
  EXPECT_FALSE(leaves_lock_step(unequal("async_model_average"))) << "nobody waits";
}

TEST(LockStep, IsLeftAfterFailuresUnlessAllWorkersRestart) {
  Experiment e = unequal("swarm_sgd");
  e.cluster.worker_variation = 0;
  e.cluster.failures.events = {{.at_s = 1, .kind = Failure::Kind::crash, .rank = 1}};
  EXPECT_TRUE(leaves_lock_step(e));
  e.cluster.failures.recovery = Recovery::restart;
  EXPECT_FALSE(leaves_lock_step(e));
  e.cluster.failures.events.push_back(
      {.at_s = 2, .kind = Failure::Kind::freeze, .rank = 1, .duration_s = 1});
  EXPECT_TRUE(leaves_lock_step(e)) << "only one worker freezes";
}

TEST(LockStep, IsAWarningOfSimulatedRunsThatMayBeTooShort) {
  const Experiment e = unequal("swarm_sgd");
  EXPECT_NE(lock_step_warning(e, summary_of(300)).find("in these 300 steps"), std::string::npos);
  EXPECT_EQ(lock_step_warning(e, summary_of(kStepsOutOfLockStep)), "");
  EXPECT_EQ(lock_step_warning(unequal("gradient_allreduce"), summary_of(300)), "");
  Experiment real = e;
  real.runtime = "threads";
  EXPECT_EQ(lock_step_warning(real, summary_of(300)), "");
}

}  // namespace
}  // namespace trigram::lock_step_test
