#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "algorithms/collectives/collectives.h"
#include "tests/support/worlds.h"

// Helpers for tests of collectives: lengths of vectors, and the expected reduction. All sums are
// integers below 2^24, so every order of summation gives the same float.

namespace trigram::test {

inline constexpr std::size_t kLengths[] = {0, 1, 1000, 100003};

class CollectivesTest : public WorldTest {
 protected:
  /// Runs `body` on every rank, for every length.
  void for_each_length(const std::function<void(Context, std::size_t)>& body) {
    run([&](Context ctx) {
      for (std::size_t n : kLengths) {
        SCOPED_TRACE(testing::Message() << "rank " << ctx.rank() << ", length " << n);
        body(ctx, n);
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }
};

inline double reduced(Reduce op, int ranks, std::size_t index) {
  double sum = 0;
  for (int r = 0; r < ranks; ++r) sum += double{unique_value(r, index)};
  switch (op) {
    case Reduce::sum: return sum;
    case Reduce::avg: return sum / ranks;
    case Reduce::max: return double{unique_value(ranks - 1, index)};
  }
  return 0;
}

/// Expects that `x` holds the reduction over all ranks, from its element `begin` on. Results are
/// exact, except for the scaling of a mean.
inline void expect_reduced(const Context& ctx, const Tensor& x, std::size_t begin, Reduce op,
                           int ranks) {
  const auto values = ctx.device->download(x);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = reduced(op, ranks, begin + i);
    if (op == Reduce::avg) {
      ASSERT_NEAR(double{values[i]}, expected, 1e-6 * (1 + expected)) << "element " << begin + i;
    } else {
      ASSERT_EQ(double{values[i]}, expected) << "element " << begin + i;
    }
  }
}

inline void expect_allreduces(Context ctx, std::size_t n, const AllreduceSpec& algorithm) {
  for (Reduce op : {Reduce::sum, Reduce::avg, Reduce::max}) {
    const Tensor x = unique_tensor(ctx, n, ctx.rank());
    allreduce(ctx, x, op, algorithm);
    expect_reduced(ctx, x, 0, op, ctx.size());
  }
}

}  // namespace trigram::test
