#pragma once

#include <gtest/gtest.h>

#include "tests/support/affine_training.h"
#include "tests/support/worlds.h"

// Centralised methods, computed by hand for the gradient g_r(x) = slope x + r + 1. All weights of a
// rank are equal, so one number per rank is enough.

namespace trigram::test::centralised {

inline constexpr double kLr = 0.125, kSlope = 0.5;

inline double gradient(double x, std::size_t rank) {
  return kSlope * x + static_cast<double>(rank) + 1;
}

inline double mean_gradient(double x, std::size_t ranks) {
  double sum = 0;
  for (std::size_t r = 0; r < ranks; ++r) sum += gradient(x, r);
  return sum / static_cast<double>(ranks);
}

class CentralisedRules : public AffineTest {
 protected:
  /// Compares with `expected(ranks)` on 4 and 8 workers, flat and in nodes of two.
  template <class Expected>
  void check(Json algorithm, long steps, const Expected& expected, const Json& optimizer = {}) {
    for (const int nodes : {2, 4})
      for (const bool hierarchical : {false, true}) {
        SCOPED_TRACE(testing::Message() << nodes << " nodes, hierarchical: " << hierarchical);
        algorithm["hierarchical"] = hierarchical;
        expect_near(common_weights(train({.world = GetParam(),
                                          .cluster = nodes_of_two(nodes),
                                          .algorithm = algorithm,
                                          .steps = steps,
                                          .slope = kSlope,
                                          .lr = kLr,
                                          .optimizer = optimizer})),
                    expected(static_cast<std::size_t>(2 * nodes)));
      }
  }
};

}  // namespace trigram::test::centralised
