#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "runtime/mpi/deadline.h"

namespace trigram::mpi::deadline_test {
namespace {

void call_for(double call_s, double timeout_s) {
  const Deadline deadline("MPI_Comm_split", 3, timeout_s);
  std::this_thread::sleep_for(std::chrono::duration<double>(call_s));
}

TEST(Deadline, EndsTheProcessAndNamesTheCall) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(call_for(1000, 0.1), testing::ExitedWithCode(124),
              "MPI_Comm_split has not returned on rank 3 for 0.1 s");
}

/// Returns from a call, and then runs until after the deadline of the call.
void run_after_a_call() {
  call_for(0.01, 1);
  std::this_thread::sleep_for(std::chrono::duration<double>(1.5));
  std::exit(0);
}

TEST(Deadline, DoesNotEndTheProcessIfTheCallReturns) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(run_after_a_call(), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace trigram::mpi::deadline_test
