#include <gtest/gtest.h>

#include "tests/support/collective_timing.h"

// Invariant C at hundreds of ranks; see invariant_c_test.cpp.

namespace trigram::test::invariant_c_slow_test {
namespace {

TEST(InvariantC, HoldsExactlyAt256Ranks) {
  // The direct collectives are left out, because all their messages share links at the same time:
  // the number of changes of rates, and the cost of each change, grow with the square of the number
  // of ranks.
  auto all = unfolded_collectives();
  std::erase_if(all, [](const TimedCollective& c) { return c.name.starts_with("direct_"); });
  const std::vector<std::size_t> lengths = {0, 1000, 100'003, 25'000'000};
  expect_closed_forms(all, charged_reductions(), 256, lengths, 1e-9);
  expect_closed_forms(folded_collectives(), charged_reductions(), 256, lengths, 1e-9, {},
                      rendezvous());
}

TEST(InvariantC, HoldsAt1024Ranks) {
  // Of the collectives with 2 (P - 1) steps, only one is run, because it has two million messages.
  const auto chosen = timed_collectives(
      {"ring_allreduce, average", "recursive_doubling_allreduce, average",
       "rabenseifner_allreduce, average", "recursive_halving_reduce_scatter, average",
       "recursive_doubling_allgather", "binomial_broadcast", "binomial_reduce, sum"});
  expect_closed_forms(chosen, charged_reductions(), 1024, {100'003}, 1e-5);
}

}  // namespace
}  // namespace trigram::test::invariant_c_slow_test
