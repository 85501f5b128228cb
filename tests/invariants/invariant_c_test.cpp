#include <gtest/gtest.h>

#include "tests/support/collective_timing.h"

// Invariant C: on a flat, contention-free network the simulated time of each collective equals its
// closed form, which includes uneven parts. This holds for any number of ranks, any length, and
// free or charged reductions.

namespace trigram::test::invariant_c_test {
namespace {

const std::vector<std::size_t> kLengths = {0, 1, 5, 1000, 100'003, 25'000'000};

class InvariantC : public ::testing::TestWithParam<int> {
 protected:
  static void expect(const CostModel& costs) {
    expect_closed_forms(unfolded_collectives(), costs, GetParam(), kLengths, 1e-9);
    expect_closed_forms(folded_collectives(), costs, GetParam(), kLengths, 1e-9, {}, rendezvous());
  }
};

TEST_P(InvariantC, FreeReductions) { expect(free_reductions()); }

TEST_P(InvariantC, ChargedReductions) { expect(charged_reductions()); }

INSTANTIATE_TEST_SUITE_P(Ranks, InvariantC, ::testing::Values(2, 3, 4, 7, 8, 16, 64),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace trigram::test::invariant_c_test
