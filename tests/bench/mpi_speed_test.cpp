// Allreduce in the world of MPI, as ratios of medians taken in turns within one run. A job of two
// ranks: one for each core that it needs.

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/mpi/mpi_runtime.h"
#include "tests/bench/mpi_speed.h"

namespace trigram::test {
namespace {

// A machine that others use, too, may slow one way more than another for a while.
constexpr int kAttempts = 10;

/// All ranks try as often, as all see the same times.
struct Ratios {
  double native_to_bare = 0, ring_to_native = 0;
};

Ratios best_ratios(std::size_t bytes, int rounds, double native_to_bare, double ring_to_native) {
  Ratios best;
  in_the_job([&](const Context& ctx) {
    for (int i = 0; i < kAttempts; ++i) {
      const AllreduceTimes t = time_allreduces(ctx, bytes, rounds);
      best.native_to_bare = std::max(best.native_to_bare, t.bare / t.native);
      best.ring_to_native = std::max(best.ring_to_native, t.native / t.ring);
      if (best.native_to_bare >= native_to_bare && best.ring_to_native >= ring_to_native) return;
    }
  });
  testing::Test::RecordProperty("native_to_bare", std::to_string(best.native_to_bare));
  testing::Test::RecordProperty("ring_to_native", std::to_string(best.ring_to_native));
  return best;
}

class MpiSpeed : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = mpi_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(MpiSpeed, long_vectors) {
  const Ratios r = best_ratios(std::size_t{16} << 20, 21, 0.95, 1.0);
  EXPECT_GE(r.native_to_bare, 0.95);
  EXPECT_GE(r.ring_to_native, 1.0);
}

TEST_F(MpiSpeed, the_ring_keeps_up_on_short_vectors) {
  EXPECT_GE(best_ratios(std::size_t{256} << 10, 201, 0, 0.6).ring_to_native, 0.6);
}

TEST_F(MpiSpeed, coded_averages_move_a_quarter) {
  in_the_job([](const Context& ctx) {
    const double share = bytegrad_share(ctx, 1'000'003);
    EXPECT_LE(share, 0.27);
    EXPECT_GT(share, 0.25);
  });
}

}  // namespace
}  // namespace trigram::test
