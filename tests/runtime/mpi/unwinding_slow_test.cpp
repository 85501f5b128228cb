// Tests a rank, in a world whose ranks are processes, that has failed and cannot unwind.

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/context.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram::unwinding_slow_test {
namespace {

/// An object like one that waits for an accelerator that cannot be aborted.
struct NeverDestroyed {
  ~NeverDestroyed() { std::this_thread::sleep_for(std::chrono::hours(1)); }
};

/// Runs in a job of one process.
void fail_and_never_unwind() {
  make_mpi_runtime({.watchdog_s = 1})->launch(Layout(1, 1), [](const Context& ctx) {
    auto agent = ctx.stream->fork("agent");
    auto work = agent->submit(ctx, [](const Context&) { throw std::out_of_range("no sample 7"); });
    const NeverDestroyed held;
    ctx.stream->wait(*work);
  });
}

TEST(Unwinding, HasADeadline) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(fail_and_never_unwind(), testing::ExitedWithCode(124),
              "the world has failed, and rank 0 has not ended for 25 s");
}

}  // namespace
}  // namespace trigram::unwinding_slow_test
