// Allreduce in the MPI world, as ratios of medians measured in turns within one run. The job has
// two ranks, each of which needs a core.

#include <gtest/gtest.h>

#include "runtime/mpi/mpi_runtime.h"
#include "tests/bench/mpi/mpi_speed.h"

namespace trigram::test::mpi_speed_test {
namespace {

// There are several attempts, because on a shared machine other programs may slow one variant more
// than another for a while.
constexpr int kAttempts = 10;

struct Ratios {
  double native_to_bare = 0, native_to_nonblocking = 0, ring_to_native = 0;
  bool reach(const Ratios& least) const {
    return native_to_bare >= least.native_to_bare &&
           native_to_nonblocking >= least.native_to_nonblocking &&
           ring_to_native >= least.ring_to_native;
  }
};

/// The ratios of the first attempt in which all of them reach `least`, or of the last attempt. All
/// ranks make the same number of attempts, because they get the same times.
Ratios ratios_reaching(const Ratios& least, std::size_t bytes, int rounds) {
  Ratios found;
  launch_in_job([&](const Context& ctx) {
    for (int i = 0; i < kAttempts && !found.reach(least); ++i) {
      const AllreduceTimes t = time_allreduces(ctx, bytes, rounds);
      found = {t.bare / t.native, t.nonblocking / t.native, t.native / t.ring};
    }
  });
  testing::Test::RecordProperty("native_to_bare", std::to_string(found.native_to_bare));
  testing::Test::RecordProperty("native_to_nonblocking",
                                std::to_string(found.native_to_nonblocking));
  testing::Test::RecordProperty("ring_to_native", std::to_string(found.ring_to_native));
  return found;
}

class MpiSpeed : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = mpi_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(MpiSpeed, long_vectors) {
  const Ratios r = ratios_reaching({0.95, 1.2, 1.0}, std::size_t{16} << 20, 21);
  EXPECT_GE(r.native_to_bare, 0.95);
  EXPECT_GE(r.native_to_nonblocking, 1.2);
  EXPECT_GE(r.ring_to_native, 1.0);
}

// If a message takes as long as its sum, the blocking call is somewhat faster than a nonblocking
// one.
TEST_F(MpiSpeed, short_vectors) {
  const Ratios r = ratios_reaching({0.75, 1.0, 0.6}, std::size_t{256} << 10, 201);
  EXPECT_GE(r.native_to_bare, 0.75);
  EXPECT_GE(r.native_to_nonblocking, 1.0);
  EXPECT_GE(r.ring_to_native, 0.6);
}

TEST_F(MpiSpeed, encoded_averages_send_a_quarter_of_the_bytes) {
  launch_in_job([](const Context& ctx) {
    const double share = bytegrad_share(ctx, 1'000'003);
    EXPECT_LE(share, 0.27);
    EXPECT_GT(share, 0.25);
  });
}

}  // namespace
}  // namespace trigram::test::mpi_speed_test
