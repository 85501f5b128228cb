// The simulator's speed as ratios of processor times within one run: the full stack against the
// same messages in a program written by hand.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/bench/ring_speed.h"
#include "tests/support/in_child.h"
#include "tests/support/simulate.h"

namespace trigram::test {
namespace {

constexpr std::size_t kNumel = 25'600'000;

void expect_fast(const Cluster& cluster, const Ring& ring) {
  const Comparison c = compare_rings(cluster, ring, 5);
  testing::Test::RecordProperty("speed_ratio", std::to_string(c.speed_ratio()));
  EXPECT_EQ(c.full_stack.simulated_s, c.hand_written.simulated_s);
  EXPECT_GE(c.speed_ratio(), 0.85) << 1e6 * c.hand_written.cost_s() << " us by hand, "
                                   << 1e6 * c.full_stack.cost_s() << " us through the stack";
}

TEST(SimSpeed, ring_of_128_in_lock_step) { expect_fast(ring_cluster(128), {kNumel, true, 2}); }

TEST(SimSpeed, ring_of_128_with_jitter) { expect_fast(ring_cluster(128, 0.1), {kNumel, true, 2}); }

TEST(SimSpeed, ring_of_128_with_uneven_chunks) {
  expect_fast(ring_cluster(128), {kNumel + 7, true, 2});
}

TEST(SimSpeed, the_cost_of_a_message_grows_no_faster_than_simgrids) {
  constexpr double kLimit = 1.15;
  constexpr int kAttempts = 4;  // each can only find faster runs of either program
  Comparison small, large;
  double by_hand = 0, full_stack = 0;
  for (int i = 0; i < kAttempts && (i == 0 || full_stack > kLimit * by_hand); ++i) {
    small = compare_rings(ring_cluster(64), {kNumel, false, 32}, 3, small);
    large = compare_rings(ring_cluster(1024), {kNumel, false, 1}, 1, large);
    by_hand = large.hand_written.cost_s() / small.hand_written.cost_s();
    full_stack = large.full_stack.cost_s() / small.full_stack.cost_s();
  }
  RecordProperty("growth_by_hand", std::to_string(by_hand));
  RecordProperty("growth_full_stack", std::to_string(full_stack));
  EXPECT_LE(full_stack, kLimit * by_hand);
}

TEST(SimMemory, a_thousand_ranks_of_two_streams_stay_below_a_quarter_gigabyte) {
  const auto peak = values_from_child<long>([] {
    make_sim_runtime({}, round_cluster(128, 8))->launch(Layout(128, 8), [](const Context& ctx) {
      auto comm = ctx.stream->fork("comm");
      ctx.stream->wait(*comm->submit(ctx, [](const Context& c) {
        const int next = (c.rank() + 1) % c.size(), previous = (c.rank() + c.size() - 1) % c.size();
        for (int i = 0; i < 10; ++i)
          c.comm->transfer(
              std::vector<Transfer>{{Transfer::recv, phantom_bytes(1'000'000), previous},
                                    {Transfer::send, phantom_bytes(1'000'000), next}});
      }));
    });
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return std::vector<long>{usage.ru_maxrss};
  });
  ASSERT_EQ(peak.size(), 1u);
  EXPECT_LT(peak[0], 256 * 1024) << "KiB";
}

}  // namespace
}  // namespace trigram::test
